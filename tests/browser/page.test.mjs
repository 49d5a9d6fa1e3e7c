// SPDX-License-Identifier: Apache-2.0
// The report page in a real browser: its content, that it loads nothing, and that text of the log stays text.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { request } from 'node:https';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const sandgate = process.env.SANDGATE;
const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'sandgate-page-'));
let browser;

const HEX = 'a'.repeat(64);

function input(paths) {
  return {
    workload: {
      skill_ref: 'acme/report@1.4.0',
      requirements: {
        source_ref: 'git:acme/report@1.4.0', source_digest: 'sha256:' + HEX, observed_at: '2026-02-28T12:00:00Z',
        writable_paths: paths,
      },
    },
    as_of: '2026-03-01T12:00:00Z', max_age_days: 30, baseline: { allowed_writable_paths: ['tmp/results'] },
  };
}

// A packet of the program itself, so that it can be replayed.
function packet(given) {
  const file = join(folder, 'input.json');
  writeFileSync(file, JSON.stringify(given));
  try {
    return execFileSync(sandgate, ['plan', '-o', 'json', file], { encoding: 'utf8' }).trim();
  } catch (error) {
    return error.stdout.trim();
  }
}

function record(over) {
  return JSON.stringify({
    schema: 'sandgate.decision.v1', time: '2026-03-01T12:00:00.000Z', uid: 'u-0', operation: 'CREATE', group: '', kind: 'Pod',
    namespace: 'payments', name: 'report', user: 'dev', groups: [], images: ['registry.example.test/app@sha256:' + HEX],
    levels: { enforce: 'required', warn: 'none', audit: 'none' }, allowed: false, outcome: 'refused', dryRun: false,
    message: 'payments/Pod/report is refused', findings: [], durationMicroseconds: 150,
    subject: (over.namespace || 'payments') + '/Pod/' + (over.name || 'report'), ...over,
  });
}

function report(name, lines, ...options) {
  const log = join(folder, name + '.jsonl'), page = join(folder, name + '.html');
  writeFileSync(log, lines.join('\n') + '\n');
  writeFileSync(page, execFileSync(sandgate, ['review', '--output', 'html', ...options, log], { maxBuffer: 1 << 30 }));
  return page;
}

// A page with its console messages and requests.
async function open(file, options = {}) {
  const context = await browser.newContext(options);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') page.complaints.push(m.text()); });
  page.on('pageerror', (e) => page.complaints.push(String(e)));
  const url = file.startsWith('http:') ? file : pathToFileURL(file).href;
  page.on('request', (r) => { if (r.url().split('#')[0] !== url) page.complaints.push('request: ' + r.url()); });
  page.on('dialog', (d) => { page.complaints.push('dialog'); d.dismiss(); });
  await page.goto(url);
  return page;
}

async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

async function hold(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')), [], what);
}

const given = input(['tmp/results', 'cache']);
let plain;

before(async () => {
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const planned = packet(given);
  plain = report('plain', [
    record({ packet: JSON.parse(planned), input: given, evidence: 'payments/acme sha256:' + HEX + ' keys=release-2026,security-2026',
      boundary: boundary({ network: 'contradicted', egress: 'unknown' }) }),
    record({ uid: 'good', name: 'good', namespace: 'payments', allowed: true, outcome: 'ready', boundary: boundary({ egress: 'open' }) }),
    ...Array.from({ length: 4 }, (_, i) => record({ uid: 'r-' + i, name: 'web-' + i, namespace: 'shop', time: '2026-03-01T1' + i + ':00:00.000Z',
      owner: { kind: 'ReplicaSet', name: 'web-5d' }, outcome: 'blocked', message: 'shop/Pod/web is refused',
      findings: [{ code: 'gate.image.unpinned', message: 'this image is not pinned', place: 'spec.containers[0].image' }] })),
    record({ uid: 'd', name: 'dry', namespace: 'shop', dryRun: true, outcome: 'needs_more_evidence',
      findings: [{ code: 'gate.evidence.missing', message: 'no valid evidence', place: '' }] }),
  ]);
});
after(() => browser.close());

test('shows what was denied, by namespace and finding', async () => {
  const page = await open(plain);
  assert.equal(await page.locator('h1').innerText(), 'Sandgate: denied requests');
  assert.equal(await page.locator('.cards strong').first().innerText(), '6');
  assert.equal(await page.locator('#rows tbody tr').count(), 3);
  assert.match(await page.locator('#rows tbody').innerText(), /web-5d[\s\S]*gate\.image\.unpinned/);
  assert.ok(await page.locator('svg rect').count() > 0);
  await close(page);
});

const CONTROLS = ['environment', 'filesystem', 'network', 'egress', 'syscalls', 'capabilities', 'resources', 'isolation'];

// A reading of the pod's own spec; all controls but these are held.
function boundary(states, findings = {}) {
  return { schema: 'sandbox.boundary.v1', read: 'pod spec at admission', applied: false, controls: CONTROLS.map((control) =>
    ({ control, state: states[control] || 'held', findings: findings[control] || [] })) };
}

test('shows what pods ask for in their own specs', async () => {
  const wide = boundary({ network: 'contradicted', syscalls: 'open', egress: 'unknown' },
    { network: [{ code: 'boundary.network.host', place: 'spec.hostNetwork' }], syscalls: [null, { code: 7 }] });
  const page = await open(report('boundary', [
    record({ uid: 'u-1', name: 'wide', allowed: true, outcome: 'ready', message: undefined, boundary: wide }),
    record({ uid: 'u-2', name: 'good', allowed: true, outcome: 'ready', message: undefined, namespace: 'shop', boundary: boundary({}) }),
    record({ uid: 'u-3', name: 'bare', namespace: 'lab', boundary: boundary({ isolation: 'open' }) }),
    record({ uid: 'u-4', name: 'odd', namespace: 'odd', allowed: true, outcome: 'ready', message: undefined, boundary: { schema: 'x' } }),
  ], '--allowed'));
  const section = page.locator('section', { has: page.locator('h2', { hasText: 'What pods ask for' }) });
  const cells = async (table) => Promise.all((await section.locator('table').nth(table).locator('tbody tr').all())
    .map((row) => row.locator('td').allInnerTexts()));
  assert.deepEqual((await cells(0)).filter((c) => c[4] !== '2'),
    [['network', '1', '0', '0', '1'], ['egress', '0', '0', '1', '1'], ['syscalls', '0', '1', '0', '1']]);
  assert.deepEqual(await cells(1), [
    ['lab', '1', '0', 'not known: no admission was read', 'nothing yet'],
    ['odd', '0', '0', 'no', 'nothing yet'],
    ['payments', '1', '1', 'no', 'environment, filesystem, capabilities, resources, isolation'],
    ['shop', '1', '0', 'possible', CONTROLS.join(', ')]]);
  assert.deepEqual(await cells(2), [['payments', 'Pod/wide', 'network', 'syscalls', 'egress'], ['shop', 'Pod/good', '', '', '']]);
  assert.match(await page.locator('.notes').innerText(), /1 readings of pods' own specs cannot be understood/);
  await page.click('text=Pod/wide >> nth=-1');
  const box = page.locator('section.box', { has: page.locator('h3', { hasText: "The pod's own spec" }) });
  assert.match(await box.innerText(), /network\s+CONTRADICTED\s+boundary\.network\.host at spec\.hostNetwork/);
  assert.match(await box.innerText(), /environment\s+held/);
  await close(page);
});

test('filters by word, by list and by a click on a total', async () => {
  const page = await open(plain);
  await page.getByLabel('Search').fill('web-5d');
  assert.equal(await page.locator('#rows tbody tr').count(), 1);
  await page.getByRole('button', { name: 'Show all' }).click();
  assert.equal(await page.locator('#rows tbody tr').count(), 3);
  await page.getByLabel('Namespace').selectOption('shop');
  assert.equal(await page.locator('#rows tbody tr').count(), 2);
  await page.getByRole('link', { name: 'gate.evidence.missing' }).first().click();
  assert.equal(await page.locator('#rows tbody tr').count(), 1);
  assert.equal(await page.getByLabel('Finding', { exact: true }).inputValue(), 'gate.evidence.missing');
  await close(page);
});

test('shows a denial: requested, admitted, refused, risk, evidence, signers, advice', async () => {
  const page = await open(plain);
  await page.getByRole('link', { name: 'Pod/report' }).click();
  const text = await page.locator('main').innerText();
  for (const part of ['tmp/results, cache', 'baseline does not admit cache', 'take cache out of writable_paths', 'medium',
    'release-2026, security-2026', 'payments/acme', 'sha256:' + HEX, 'dev', 'The same packet, byte for byte.'])
    assert.ok(text.includes(part), part + ' is not in:\n' + text);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'title');
  await page.keyboard.press('Escape');
  await page.locator('#denials').waitFor();
  await close(page);
});

test('copies the raw packet, byte for byte', async () => {
  const page = await open(plain);
  await page.getByRole('link', { name: 'Pod/report' }).click();
  await page.getByRole('button', { name: 'Copy packet' }).click();
  await page.getByText('copied', { exact: true }).first().waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(JSON.stringify(JSON.parse(copied)), packet(given));
  await close(page);
});

test('shows text of the log as text', async () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u001b[31m\u202e\u2028';
  const page = await open(report('evil', [record({ name: evil, namespace: evil, user: evil, message: evil + '\nsecond', level: evil,
    evidence: evil, images: [evil], findings: [{ code: evil, message: evil, place: evil }] })]));
  assert.equal(await page.locator('main img, main script').count(), 0);
  const all = await page.locator('main').innerText();
  assert.ok(all.includes('<img src=x onerror=alert(1)>'));
  assert.ok(all.includes('\\u202e') && all.includes('\\u001b'));
  assert.ok(!/[\u001b\u202e\u2028]/.test(await page.evaluate(() => document.body.textContent.replace(/<script[\s\S]*/, ''))) );
  await page.locator('#rows tbody a').first().click();
  await page.locator('#title').waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.ok(!/[\u001b\u202e\u2028]/.test(await page.locator('main').innerText()));
  await close(page);
});

test('its content security policy blocks other scripts and all requests', async () => {
  const page = await open(plain);
  const policy = await page.locator('meta[http-equiv]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'$/);
  await page.evaluate(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); });
  assert.equal(await page.evaluate(() => window.ran), undefined);
  page.complaints = page.complaints.filter((c) => !c.includes('Content Security Policy'));
  await close(page);
});

test('has no violations in axe: overview and detail, light, dark and narrow', async () => {
  for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { viewport: { width: 360, height: 700 } }]) {
    const page = await open(plain, { ...options, bypassCSP: true });
    await hold(page, JSON.stringify(options));
    await page.getByRole('link', { name: 'Pod/report' }).click();
    await page.locator('#title').waitFor();
    await hold(page, 'detail ' + JSON.stringify(options));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, 'scrolls sideways by ' + wide);
    await close(page);
  }
});

test('announces rows to screen readers only, and shows no empty tables', async () => {
  const allowed = report('allowed', [record({ allowed: true, outcome: 'ready', message: '' })], '--allowed');
  const page = await open(allowed);
  assert.ok(await page.locator('#status').evaluate((e) => e.textContent === '1 row' && e.offsetWidth <= 1));
  assert.equal(await page.getByText('By finding').count(), 0);
  assert.match(await page.locator('.cards').innerText(), /1\s+namespace$/);
  await close(page);
});

test('shows rows in two columns on a phone', async () => {
  const page = await open(plain, { viewport: { width: 360, height: 700 } });
  const lefts = await page.locator('.wide td[data-label=Verdict] > *').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
  assert.equal(new Set(lefts).size, 1);
  assert.ok(lefts[0] > 100);
  await close(page);
});

test('fits on a phone with any names, and keeps rows short', async () => {
  const page = await open(report('long', [record({ name: 'n'.repeat(253), namespace: 's'.repeat(63), user: 'u'.repeat(300),
    findings: Array.from({ length: 60 }, (_, i) => ({ code: 'gate.' + 'x'.repeat(i), message: 'm'.repeat(300), place: 'spec.containers[' + i + ']' })) }),
    record({ uid: 'ok', name: 'n'.repeat(253), namespace: 's'.repeat(63), allowed: true, outcome: 'ready',
      boundary: boundary(Object.fromEntries(CONTROLS.map((control) => [control, 'contradicted']))) })]),
  { viewport: { width: 320, height: 700 } });
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(await wide(), 0);
  assert.equal(await page.locator('#rows td[data-label=Findings] > *').count(), 9);
  assert.equal(await page.locator('#rows td[data-label=Findings] > *').last().innerText(), 'and 52 more');
  await page.locator('#rows tbody a').first().click();
  await page.locator('#title').waitFor();
  assert.equal(await wide(), 0);
  await close(page);
});

test('shows what is omitted from a row, and that nothing changed', async () => {
  const lines = Array.from({ length: 10 }, (_, i) => record({ uid: 'u-' + i, user: 'user-' + i, images: [],
    findings: [{ code: 'gate.image.unpinned', message: 'this image is not pinned', place: '' }] }));
  const log = join(folder, 'before.jsonl'), before = join(folder, 'before.json');
  writeFileSync(log, lines.join('\n') + '\n');
  writeFileSync(before, execFileSync(sandgate, ['review', '-o', 'json', log]));
  const page = await open(report('users', lines, '--compare', before));
  assert.ok((await page.locator('main').innerText()).includes('No changes.'));
  await page.locator('#rows tbody a').first().click();
  await page.locator('#title').waitFor();
  const text = await page.locator('main').innerText();
  assert.ok(text.includes('user-7 and more') && !text.includes('Images'), text);
  await close(page);
});

test('works by keyboard alone', async () => {
  const page = await open(plain);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.locator('#rows tbody a').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('#title').waitFor();
  await page.locator('#back').focus();
  await page.keyboard.press('Enter');
  await page.locator('#denials').waitFor();
  const sort = page.getByRole('button', { name: 'Count' });
  await sort.focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('th[aria-sort=descending]').innerText().then((t) => t.trim().startsWith('Count')), true);
  await close(page);
});

test('works with 10,000 different denials', async () => {
  const lines = Array.from({ length: 10000 }, (_, i) => record({ uid: 'm-' + i, name: 'pod-' + i, namespace: 'ns-' + i % 40,
    findings: [{ code: 'gate.image.unpinned', message: 'this image is not pinned', place: 'spec.containers[' + i % 3 + '].image' }] }));
  const page = await open(report('many', lines));
  assert.match(await page.locator('caption').last().innerText(), /10,000 of 10,000 rows/);
  assert.equal(await page.locator('#rows tbody tr').count(), 100);
  await page.getByRole('button', { name: 'Show 100 more' }).click();
  assert.equal(await page.locator('#rows tbody tr').count(), 200);
  await page.getByLabel('Search').fill('pod-9999');
  assert.equal(await page.locator('#rows tbody tr').count(), 1);
  await close(page);
});

test('prints without controls', async () => {
  const page = await open(plain);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('form').isVisible(), false);
  assert.equal(await page.locator('#rows table').isVisible(), true);
  await close(page);
});

// A gate as `make run` starts it, that has denied one pod.
async function gate(t) {
  const world = join(folder, 'world'), [port, admin] = [20000, 30000].map((from) => from + process.pid % 9000);
  execFileSync(join(process.env.DEMO, 'make-world'), [sandgate, world, port, admin], { stdio: 'ignore' });
  const child = spawn(sandgate, ['serve', '--config', join(world, 'gate.yaml')], { stdio: 'ignore' });
  t.after(() => child.kill());
  const body = readFileSync(join(world, 'denied.json')), ca = readFileSync(join(world, 'certs', 'ca.crt'));
  const ask = () => new Promise((resolve, reject) => {
    const r = request({ host: '127.0.0.1', port, path: '/validate', method: 'POST', ca, servername: 'localhost',
      headers: { 'Content-Type': 'application/json', 'Content-Length': body.length } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    r.on('error', reject).end(body);
  });
  for (let i = 0; i < 100; i++) {
    if (await ask().catch(() => 0) === 200) return 'http://127.0.0.1:' + admin + '/denials';
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the gate did not answer');
}

test('the admin port shows the denial that was just made', async (t) => {
  const page = await open(await gate(t));
  assert.equal(await page.locator('#rows tbody tr').count(), 1);
  await page.locator('#rows tbody a').click();
  const text = await page.locator('main').innerText();
  for (const part of ['baseline does not admit cache', 'The plan would be ready: take cache out of writable_paths', 'release-dev',
    'The same packet, byte for byte.'])
    assert.ok(text.includes(part), part + ' is not in:\n' + text);
  await close(page);
});
