// SPDX-License-Identifier: Apache-2.0
// Pictures of a report for the documentation: overview.png and denial.png in FOLDER.
// Usage, in the directory where `tests/browser/run` has installed the driver: node picture.mjs REPORT.html FOLDER [WORKLOAD]
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [report, folder, workload] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
await page.goto(pathToFileURL(resolve(report)).href);
await page.screenshot({ path: join(folder, 'overview.png') });
if (workload) await page.getByLabel('Search').fill(workload);
await page.locator('#rows tbody a').first().click();
await page.locator('#title').waitFor();
await page.screenshot({ path: join(folder, 'denial.png') });
await browser.close();
