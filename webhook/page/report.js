// SPDX-License-Identifier: Apache-2.0
'use strict';
/* The report of `sandgate review --output html` and of /denials on the admin port.
 * The data is in the page; nothing is fetched. Its texts are not trusted: they enter the page only as
 * text nodes, and characters that are invisible or change the direction of text are shown as escapes. */
(() => {
  const PAGE_ROWS = 100;
  const ROW_CODES = 8;
  const data = JSON.parse(document.getElementById('data').textContent);
  const rows = data.rows;
  const hints = new Map((data.findings || []).map((f) => [f.code, f.whatToDo]));
  const main = document.getElementById('main');
  const filter = { text: '', namespace: '', outcome: '', finding: '', verdict: '' };
  const order = { by: 'last', down: true };
  let shown = PAGE_ROWS;
  let scrolled = 0;

  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;
  const escapeOne = (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
  const visible = (s) => String(s).replace(HIDDEN, escapeOne);
  const lines = (s) => String(s).split('\n').map(visible).join('\n');

  /* make('td', {class: 'x'}, 'text', node, …): the only function that makes elements. */
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (typeof value === 'function') element.addEventListener(key, value);
      else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
    }
    for (const child of children.flat()) {
      if (child !== undefined && child !== null)
        element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
    }
    return element;
  }

  /* Screen readers read it aloud. */
  const announce = (text) => { document.getElementById('status').textContent = text; };
  const number = (n) => Number(n || 0).toLocaleString('en');
  const time = (t) => make('span', { class: 'time' }, moment(t));
  const moment = (t) => String(t || '').replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
  const verdicts = { denied: 'denied', violates: 'would be denied', unknown: 'unknown', allowed: 'allowed' };
  const replayWords = {
    same: ['same', 'The same packet, byte for byte.'],
    'same, cut': ['same', 'The recorded packet is cut; its digest and the remaining part are the same.'],
    differs: ['differs', 'The planner decides differently; the first difference:'],
  };
  const plural = (n, one, many) => number(n) + ' ' + (n === 1 ? one : many);
  /* Allows line breaks inside of a code or a name. */
  const breakable = (s) => String(s).split(/(?<=[./])/).flatMap((part, i) => i ? [make('wbr'), part] : [part]);
  const workload = (row) => row.workload || row.name || '(no name)';
  const codes = (row) => [...new Set((row.findings || []).map((f) => f.code))];

  function parse(json) {
    if (json === undefined) return undefined;
    if (typeof json !== 'string') return json;
    try { return JSON.parse(json); } catch (_) { return undefined; }
  }

  /* ---- totals ---- */

  function cards() {
    const s = data.summary;
    const items = [
      [number(s.denied), 'denied'],
      [number(s.violates), 'allowed, but would be denied'],
      [number(s.rows), s.rows === 1 ? 'row; repeats are counted in it' : 'rows; repeats are counted in one row'],
      [number((data.namespaces || []).length), (data.namespaces || []).length === 1 ? 'namespace' : 'namespaces'],
    ];
    const replayed = rows.filter((r) => replayWords[r.replay]);
    if (replayed.length)
      items.push([number(replayed.filter((r) => r.replay !== 'differs').length) + ' of ' + number(replayed.length),
                  'plans are the same when planned again']);
    return make('ul', { class: 'cards' }, items.map(([n, what]) => make('li', {}, make('strong', {}, n), what)));
  }

  function notes() {
    const s = data.summary, b = data.boundary || {};
    const first = (place) => place ? ', the first at ' + place : '';
    const losses = [
      [s.broken, 'lines could not be read' + first(s.firstBroken)],
      [s.torn, 'lists or compressed files end too early' + first(s.firstTorn)],
      [s.tooLong, 'lines are longer than 16 MiB and were skipped' + first(s.firstTooLong)],
      [s.withoutLabels, "audit entries of Google Cloud have no labels, which hold the gate's annotations" + first(s.firstWithoutLabels)],
      [s.foreign, 'lines were neither audit events nor decisions' + first(s.firstForeign)],
      [s.unknown, 'requests failed, and the log does not say which component denied them'],
      [s.rowsLeftOut, 'decisions are over the limit of this report: use --since, --namespace or --finding'],
      [s.detailsLeftOut, 'rows have no packet and input, because of the memory limit: use --since, --namespace or --finding'],
      [s.logTruncated, 'events were truncated by the API server'],
      [s.withoutBodies, 'events were read without their objects, which are not valid JSON'],
      [s.untimed, 'decisions have no valid time'],
      [s.lapsesLeftOut, 'ends of evidence are over the limit of this report'],
      [s.changesLeftOut, 'changes are over the limit of this report'],
      [b.broken, "readings of pods' own specs cannot be understood"],
      [b.workloadsLeftOut, 'admissions are over the limit of workloads, and are not counted by control'],
      [b.namespacesLeftOut, "readings of pods' own specs are in namespaces over the limit"],
    ].filter(([n]) => n > 0);
    if (!losses.length) return null;
    return make('div', { class: 'notes' }, make('h2', {}, 'What this report does not show'),
                make('ul', {}, losses.map(([n, what]) => make('li', {}, number(n) + ' ' + what))));
  }

  /* A bar chart in SVG: denied requests, and on top of them those that would be denied. */
  function timeline() {
    const t = data.timeline;
    if (!t || !t.denied.length) return null;
    const NS = 'http://www.w3.org/2000/svg';
    const most = Math.max(1, ...t.denied.map((n, i) => n + t.violates[i]));
    const svg = document.createElementNS(NS, 'svg');
    const total = t.denied.reduce((a, b) => a + b, 0);
    svg.setAttribute('viewBox', '0 0 ' + t.denied.length * 10 + ' 100');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', number(total) + ' denials, at most ' + number(most) + ' in one bar of ' + span(t.widthSeconds));
    t.denied.forEach((denied, i) => {
      [[denied, 0, 'denied-bar'], [t.violates[i], denied, 'violates-bar']].forEach(([n, below, name]) => {
        if (!n) return;
        const bar = document.createElementNS(NS, 'rect');
        const height = Math.max(1, 96 * n / most);
        bar.setAttribute('x', i * 10 + 1);
        bar.setAttribute('width', 8);
        bar.setAttribute('y', 100 - 96 * below / most - height);
        bar.setAttribute('height', height);
        bar.setAttribute('class', name);
        const title = document.createElementNS(NS, 'title');
        title.textContent = moment(new Date(Date.parse(t.from) + i * t.widthSeconds * 1000).toISOString()) + ': ' + number(n);
        bar.append(title);
        svg.append(bar);
      });
    });
    const end = new Date(Date.parse(t.from) + t.denied.length * t.widthSeconds * 1000).toISOString();
    return make('section', {}, make('h2', {}, 'Over time'), svg,
                make('p', { class: 'small' }, 'From ' + moment(t.from) + ' to ' + moment(end) + '. Each bar is ' +
                     span(t.widthSeconds) + '; the highest bar has ' + number(most) + '. Red: denied. Ochre: allowed, but would be denied.'));
  }

  function span(seconds) {
    for (const [n, name] of [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']]) {
      if (seconds % n === 0) return seconds / n === 1 ? 'one ' + name : seconds / n + ' ' + name + 's';
    }
    return seconds + ' seconds';
  }

  function choose(what, value) {
    Object.assign(filter, { text: '', namespace: '', outcome: '', finding: '', verdict: '' });
    filter[what] = value;
    shown = PAGE_ROWS;
    overview();
    document.getElementById('denials').scrollIntoView();
    document.getElementById('denials').focus();
  }

  function pick(what, value) {
    return make('a', { href: '#/', click: (e) => { e.preventDefault(); choose(what, value); } }, breakable(value || '(none)'));
  }

  function sums() {
    const namespaces = make('section', {}, make('h2', {}, 'By namespace'),
      table(['Namespace', 'Denied', 'Would be denied'], (data.namespaces || []).slice(0, 50).map((n) =>
        [pick('namespace', n.namespace), num(n.denied), num(n.violates)])));
    const findings = !(data.findings || []).length ? null : make('section', {}, make('h2', {}, 'By finding'),
      table(['Finding', 'Count', 'What to do'], (data.findings || []).slice(0, 50).map((f) =>
        [pick('finding', f.code), num(f.denied + f.violates + (f.other || 0)), f.whatToDo || ''])));
    return make('div', { class: 'two' }, namespaces, findings);
  }

  const num = (n) => ({ number: number(n) });

  function table(heads, lines_, name) {
    const cell = (value, i) => value !== null && typeof value === 'object' && 'number' in value
      ? make('td', { class: 'number', 'data-label': heads[i] }, value.number)
      : make('td', { 'data-label': heads[i] }, value);
    const counts = (i) => lines_.some((l) => l[i] !== null && typeof l[i] === 'object' && 'number' in l[i]);
    return make('table', { class: name }, make('thead', {}, make('tr', {}, heads.map((h, i) =>
                make('th', { scope: 'col', class: counts(i) ? 'number' : undefined }, h)))),
                make('tbody', {}, lines_.map((l) => make('tr', {}, l.map(cell)))));
  }

  function expiries() {
    if (!(data.lapses || []).length) return null;
    return make('section', {}, make('h2', {}, 'Evidence that ends soon'),
      table(['What', 'Name', 'Ends', 'Last used'], data.lapses.map((l) =>
        [l.kind, l.name, time(l.endsAt), time(l.lastSeen)]), 'wide'),
      make('p', { class: 'small' }, 'Sign these documents again before they end: after that, pods that need them are denied.'));
  }

  function changes() {
    const c = data.changes;
    if (!c) return null;
    const list = (name, items) => items && items.length
      ? make('div', {}, make('h3', {}, name), table(['Namespace', 'Workload', 'Finding', 'Before', 'Now'],
          items.slice(0, 100).map((i) => [i.namespace || '', (i.kind || '') + '/' + (i.workload || '(no name)'), i.code ? breakable(i.code) : 'any',
            num(i.before), num(i.now)]), 'wide'))
      : null;
    const found = [list('New', [...(c.newWorkloads || []), ...(c.newFindings || [])]),
                   list('Gone', [...(c.goneWorkloads || []), ...(c.goneFindings || [])])].filter(Boolean);
    return make('section', {}, make('h2', {}, 'Changes since ' + c.since),
                found.length ? found : make('p', {}, 'No changes.'));
  }

  /* ---- what pods' own specs ask for, beside their declarations ---- */

  const stateWords = { contradicted: ['denied', 'CONTRADICTED'], open: ['violates', 'open'], unknown: ['unknown', 'unknown'], held: ['allowed', 'held'] };
  const state = (s) => make('span', { class: (stateWords[s] || stateWords.unknown)[0] }, (stateWords[s] || [0, s])[1]);
  const listed = (words) => words.flatMap((w, i) => i ? [', ', ...breakable(w)] : breakable(w));
  const withState = (w, ...wanted) => Object.keys(w.states).filter((control) => wanted.includes(w.states[control]));

  function mayBlock(n) {
    if (n.block) return 'possible';
    return n.contradicted || n.broken ? make('span', { class: 'denied' }, 'no') : 'not known: no admission was read';
  }

  function boundary() {
    const b = data.boundary;
    if (!b) return null;
    const most = (list, max, what) => list.length > max ? make('p', { class: 'small' }, 'and ' + number(list.length - max) + ' more ' + what) : null;
    return make('section', {}, make('h2', {}, 'What pods ask for in their own specs'),
      make('p', { class: 'small' }, 'What the API server was asked to admit, beside what was declared and signed; not a running process. ' +
        'The worst state in the time of this report counts. Dry runs are left out.'),
      !b.workloads.length ? null : table(['Control', 'Contradicted', 'Open', 'Unknown', 'Held'], b.controls.map((c) =>
        [c.control, num(c.contradicted), num(c.open), num(c.unknown), num(c.held)]), 'wide'),
      make('h3', {}, 'What each namespace is ready for'),
      table(['Namespace', 'Read', 'Contradicted', 'Level block', 'Baselines could hold'], b.namespaces.slice(0, 50).map((n) =>
        [n.namespace, num(n.reads), num(n.contradicted), mayBlock(n), n.hold.join(', ') || 'nothing yet']), 'wide'),
      most(b.namespaces, 50, 'namespaces'),
      !b.workloads.length ? null : [make('h3', {}, 'Admitted workloads'),
        table(['Namespace', 'Workload', 'Contradicted', 'Open', 'Unknown'], b.workloads.slice(0, PAGE_ROWS).map((w) => [w.namespace, w.kind + '/' + (w.workload || '(no name)'),
          make('span', { class: 'denied' }, listed(withState(w, 'contradicted'))), withState(w, 'open').join(', '), withState(w, 'unknown').join(', ')]), 'wide'),
        most(b.workloads, PAGE_ROWS, 'workloads')]);
  }

  function ownSpec(row) {
    const controls = row.boundary && row.boundary.controls;
    if (!controls) return make('p', {}, 'It was not read.');
    return facts(controls.map((c) => [c.control, [state(c.state), ...c.findings.filter((f) => f && f.code).map((f) =>
      make('div', { class: 'small' }, breakable(f.code), f.place ? ' at ' + f.place : ''))]]));
  }

  /* ---- the table of all rows ---- */

  function haystack(row) {
    if (row.haystack === undefined)
      Object.defineProperty(row, 'haystack', { value: [row.namespace, row.kind, row.name, row.workload,
        ...(row.users || []), ...(row.images || []), row.outcome, row.message, ...codes(row)].join('\n').toLowerCase() });
    return row.haystack;
  }

  function matching() {
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) =>
      (!filter.namespace || row.namespace === filter.namespace) &&
      (!filter.outcome || row.outcome === filter.outcome) &&
      (!filter.verdict || row.verdict === filter.verdict) &&
      (!filter.finding || codes(row).includes(filter.finding)) &&
      words.every((w) => haystack(row).includes(w)));
    const value = { count: (r) => r.count, last: (r) => Date.parse(r.last) || 0, workload, namespace: (r) => r.namespace || '' }[order.by];
    const sign = order.down ? -1 : 1;
    return found.sort((a, b) => { const x = value(a), y = value(b); return x < y ? -sign : x > y ? sign : 0; });
  }

  function select(label, key, values) {
    const list = make('select', { id: 'f-' + key, change: (e) => { filter[key] = e.target.value; shown = PAGE_ROWS; fill(); } },
      make('option', { value: '' }, 'all'),
      [...values].sort().map((v) => make('option', { value: v, selected: filter[key] === v }, v)));
    return make('div', { class: 'field' }, make('label', { for: 'f-' + key }, label), list);
  }

  function controls() {
    const distinct = (f) => new Set(rows.flatMap(f).filter(Boolean));
    const search = make('input', { id: 'f-text', type: 'search', value: filter.text, autocomplete: 'off',
      input: (e) => { filter.text = e.target.value; shown = PAGE_ROWS; fill(); } });
    return make('form', { role: 'search', 'aria-label': 'Filter the denials', submit: (e) => e.preventDefault() },
      make('div', { class: 'field' }, make('label', { for: 'f-text' }, 'Search'), search),
      select('Namespace', 'namespace', distinct((r) => [r.namespace])),
      select('Finding', 'finding', distinct(codes)),
      select('Outcome', 'outcome', distinct((r) => [r.outcome])),
      make('button', { type: 'button', class: 'button', click: () => choose('text', '') }, 'Show all'));
  }

  function head(label, key, extra) {
    if (!key) return make('th', { scope: 'col' }, label);
    const current = order.by === key;
    return make('th', { scope: 'col', class: extra, 'aria-sort': current ? (order.down ? 'descending' : 'ascending') : 'none' },
      make('button', { type: 'button', click: () => {
        if (current) order.down = !order.down; else Object.assign(order, { by: key, down: key === 'last' || key === 'count' });
        fill();
        document.querySelector('#rows [data-key="' + key + '"]').focus();
      }, 'data-key': key }, label, current ? (order.down ? ' ▾' : ' ▴') : ''));
  }

  function line(row) {
    const cell = (label, content, name) => make('td', { 'data-label': label, class: name }, content);
    return make('tr', {},
      cell('Workload', [make('a', { href: '#/row/' + rows.indexOf(row) }, (row.kind || '') + '/' + workload(row)),
        row.dryRun ? make('span', { class: 'small' }, ' dry run') : null]),
      cell('Namespace', row.namespace || ''),
      cell('Verdict', [make('span', { class: row.verdict }, verdicts[row.verdict] || row.verdict), ' ', make('span', { class: 'small' }, row.outcome)]),
      cell('Findings', [...codes(row).slice(0, ROW_CODES).map((c) => make('div', { class: 'code' }, breakable(c))),
        codes(row).length > ROW_CODES ? make('div', { class: 'small' }, 'and ' + number(codes(row).length - ROW_CODES) + ' more') : null]),
      cell('Count', number(row.count), 'number'),
      cell('Last', time(row.last)));
  }

  function fill() {
    const place = document.getElementById('rows');
    const found = matching();
    place.replaceChildren(
      make('table', { class: 'wide' },
        make('caption', {}, number(found.length) + ' of ' + number(rows.length) + ' rows; equal decisions about one workload are one row'),
        make('thead', {}, make('tr', {}, head('Workload', 'workload'), head('Namespace', 'namespace'), head('Verdict'),
          head('Findings'), head('Count', 'count', 'number'), head('Last', 'last'))),
        make('tbody', {}, found.slice(0, shown).map(line))),
      ...(found.length > shown
        ? [make('p', {}, make('button', { type: 'button', class: 'button', id: 'more', click: () => {
            const first = shown;
            shown += PAGE_ROWS;
            fill();
            document.querySelectorAll('#rows tbody a')[first].focus();
          } }, 'Show ' + number(Math.min(PAGE_ROWS, found.length - shown)) + ' more'))]
        : []));
    announce(plural(found.length, 'row', 'rows'));
  }

  function overview() {
    document.title = 'Sandgate: denied requests';
    main.replaceChildren(...[cards(), notes(), timeline(), rows.length ? sums() : null, boundary(), expiries(), changes(),
      make('section', {}, make('h2', { id: 'denials', tabindex: '-1' }, rows.length ? 'All rows' : 'No denied requests'),
        rows.length ? controls() : null, make('div', { id: 'rows' }))].filter(Boolean));
    if (rows.length) fill();
  }

  /* ---- one row ---- */

  function facts(pairs) {
    return make('dl', {}, pairs.filter(([, v]) => v !== undefined && v !== null && v.length !== 0).flatMap(([k, v]) =>
      [make('dt', {}, k), make('dd', {}, v)]));
  }

  const show = (v) => v === undefined || v === null ? 'not given' : Array.isArray(v)
    ? (v.length ? v.map((x) => typeof x === 'string' ? x : JSON.stringify(x)).join(', ') : 'none')
    : typeof v === 'object' ? JSON.stringify(v) : String(v);

  function requested(input) {
    const r = input && input.workload && input.workload.requirements;
    if (!r || typeof r !== 'object') return make('p', {}, 'No requirements were found.');
    return facts(Object.entries(r).map(([k, v]) => [k, show(v)]));
  }

  function admitted(input) {
    const b = input && input.baseline;
    if (!b || typeof b !== 'object' || !Object.keys(b).length)
      return make('p', {}, 'No baseline sets a limit.');
    return facts(Object.entries(b).map(([k, v]) => [k, show(v)]));
  }

  function refused(row) {
    if (!(row.findings || []).length) return make('p', {}, 'There are no findings.');
    return make('ul', {}, row.findings.map((f) => make('li', {},
      make('span', { class: 'code' }, f.code), f.place ? ' at ' + f.place : '', ': ' + (f.message || ''),
      hints.get(f.code) ? make('div', { class: 'small' }, 'What to do: ' + hints.get(f.code)) : null)),
      row.findingsLeftOut ? make('li', {}, 'and ' + number(row.findingsLeftOut) + ' more') : null);
  }

  function raw(name, json) {
    if (json === undefined) return null;
    const text = typeof json === 'string' ? json : JSON.stringify(json);
    const parsed = parse(json);
    const place = make('span', { class: 'small' });
    return make('section', {},
      make('div', { class: 'raw' }, make('h3', {}, name),
        make('button', { type: 'button', class: 'button', 'data-copy': name, click: async () => {
          place.textContent = await copy(text) ? 'copied' : 'this browser does not allow pages to copy: select the text';
          announce(name + ' ' + place.textContent);
        } }, 'Copy ' + name.toLowerCase()), place),
      make('pre', { tabindex: '0', 'aria-label': name }, JSON.stringify(parsed === undefined ? text : parsed, null, 2).split('\n').map((l) => [l, make('br')]).flat().slice(0, -1)));
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (_) {
      const area = make('textarea', { 'aria-label': 'text to copy' });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      return done;
    }
  }

  function detail(row) {
    const input = parse(row.input), packet = parse(row.packet);
    const profile = packet && packet.hardening_profile || {};
    const replay = replayWords[row.replay];
    const title = (row.namespace ? row.namespace + '/' : '') + (row.kind || '') + '/' + workload(row);
    document.title = 'Sandgate: ' + visible(title);
    main.replaceChildren(...[
      make('p', {}, make('a', { href: '#/', id: 'back' }, 'Back to the overview')),
      make('h2', { id: 'title', tabindex: '-1' }, title),
      make('p', {}, make('span', { class: row.verdict }, verdicts[row.verdict] || row.verdict), ' (' + (row.outcome || '') + '), ',
        row.count > 1 ? number(row.count) + ' times from ' + moment(row.first) + ' to ' + moment(row.last) : moment(row.first),
        row.dryRun ? ', dry run' : ''),
      row.message ? make('pre', { tabindex: '0', 'aria-label': 'Message to the user' }, ...lines(row.message).split('\n').flatMap((l) => [l, make('br')]).slice(0, -1)) : null,
      advice(row),
      make('div', { class: 'grid3' },
        make('section', { class: 'box' }, make('h3', {}, 'Requested'), requested(input)),
        make('section', { class: 'box' }, make('h3', {}, 'Admitted by baselines'), admitted(input)),
        make('section', { class: 'box' }, make('h3', {}, 'Refused, with reasons'), refused(row)),
        make('section', { class: 'box' }, make('h3', {}, 'Residual risk'), risk(profile)),
        make('section', { class: 'box' }, make('h3', {}, "The pod's own spec"), ownSpec(row)),
        make('section', { class: 'box' }, make('h3', {}, 'Evidence'), evidence(row, profile)),
        make('section', { class: 'box' }, make('h3', {}, 'Request'), facts([
          ['Users', more((row.users || []).join(', '), row.usersLeftOut)], ['Operation', row.operation],
          ['Images', [...(row.images || []).map((i) => make('div', { class: 'code' }, i)), ...(row.imagesLeftOut ? ['and more'] : [])]],
          ['Level', row.level], ['Webhook', row.webhook], ['Audit ID or uid', row.id], ['Source', row.source], ['Error', row.error]]))),
      make('h3', {}, 'Planned again'),
      make('p', {}, replay ? make('span', { class: replay[0] }, replay[1]) : 'Not planned again: the record has no complete input and packet.',
        row.replayDiffers ? ' ' + row.replayDiffers : ''),
      raw('Packet', row.packet), row.packetSha256 ? make('p', { class: 'small code' }, row.packetSha256) : null, raw('Input', row.input),
    ].filter(Boolean));
    document.getElementById('title').focus();
  }

  function advice(row) {
    if (!row.advice && !row.obstacle) return null;
    return make('div', { class: 'advice' }, make('h3', {}, 'What would be admitted'), make('p', {}, row.advice
      ? 'The plan would be ready: ' + row.advice : 'No narrower requirements would be ready: ' + row.obstacle));
  }

  function risk(profile) {
    const r = profile.residual_risk;
    if (!r) return make('p', {}, 'No plan was made.');
    return make('div', {}, make('p', {}, make('strong', {}, String(r.level)), ': ' + r.reason),
      make('p', { class: 'small' }, 'Not governed: ' + show(profile.unsupported_controls) + '. Applied: ' + show(profile.applied) + '.'));
  }

  const more = (text, leftOut) => (leftOut ? text + ' and more' : text);

  function evidence(row, profile) {
    const match = /^(\S+) (sha256:[0-9a-f]+) keys=(\S*)/.exec(row.evidence || '');
    const source = profile.source_evidence || {};
    return facts([
      ['Document', match ? match[1] : row.evidence || 'none in use'],
      ['Digest', match && make('span', { class: 'code' }, match[2])],
      ['Signed by', match && match[3].split(',').join(', ')],
      ['Source', source.source_ref], ['Observed at', source.observed_at], ['Provenance', source.provenance],
      ['Exemption', row.exemption]]);
  }

  function route() {
    const match = /^#\/row\/(\d+)$/.exec(location.hash);
    const row = match && rows[Number(match[1])];
    if (row) {
      scrolled = window.scrollY;
      detail(row);
      window.scrollTo(0, 0);
    } else {
      overview();
      if (scrolled) window.scrollTo(0, scrolled);
    }
  }

  const s = data.summary;
  document.getElementById('span').textContent =
    plural(s.decisions, 'decision', 'decisions') + (data.madeAt ? ', read at ' + moment(data.madeAt) : '') +
    (s.files ? ' from ' + plural(s.files, 'file', 'files') : '');
  window.addEventListener('hashchange', route);
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && /^#\/row\//.test(location.hash)) location.hash = '#/';
  });
  route();
})();
