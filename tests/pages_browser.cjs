// Opens a site from the disk and a server's pages in Chromium, uses them with the keyboard, takes screenshots and prints what it saw as JSON.
// Arguments: the browser, the folder of the site, the address of the server with its token, the folder for screenshots,
// the name to search, the page of a file.
const { chromium } = require("playwright-core");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

(async () => {
  const [executablePath, site, address, shots, name, file] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const seen = {};
  const own = [`file://${site}/`, new URL(address).origin + "/"];
  async function fresh(options) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.complaints = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.complaints.push(message.text()); });
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("dialog", (dialog) => { page.complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!own.some((begin) => request.url().startsWith(begin))) page.complaints.push(`network ${request.url()}`); });
    return page;
  }
  for (const [label, colorScheme, width] of [["light", "light", 1280], ["dark", "dark", 1280], ["narrow", "light", 390]]) {
    const page = await fresh({ colorScheme, viewport: { width, height: 900 } });
    seen[label] = { overflow: 0 };
    for (const [shot, path] of [["home", "index.html"], ["file", file], ["map", "map.html"], ["unreferenced", "unreferenced.html"]]) {
      await page.goto(`file://${site}/${path}`);
      await page.screenshot({ path: `${shots}/${label}-${shot}.png` });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      seen[label].overflow = Math.max(seen[label].overflow, overflow);
    }
    seen[label].background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    // Search, the symbol, its definition, and from there back to its uses: by the keyboard alone.
    await page.goto(`file://${site}/index.html`);
    await page.keyboard.press("/");
    await page.keyboard.type(name);
    await page.locator("#hits a").first().waitFor();
    seen[label].found = await page.locator("#hits a b").first().textContent();
    await page.screenshot({ path: `${shots}/${label}-search.png` });
    await page.keyboard.press("ArrowDown");
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    seen[label].symbol = await page.locator("h1").textContent();
    await page.screenshot({ path: `${shots}/${label}-symbol.png`, fullPage: true });
    await Promise.all([page.waitForURL(/\/f\/.*#L\d+$/), page.locator(".place a").first().click()]);
    seen[label].line = await page.locator("b:target").textContent();
    await page.screenshot({ path: `${shots}/${label}-definition.png` });
    await Promise.all([page.waitForURL(/\/s\//), page.locator("b:target a.d").first().click()]);
    seen[label].back = await page.locator("h1").textContent();
    await page.keyboard.press("j");
    seen[label].focused = await page.evaluate(() => document.activeElement.tagName);
    seen[label].complaints = page.complaints;
  }
  const inline = await fresh({});
  await inline.goto(`file://${site}/index.html`);
  seen.script_refused = await inline.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.owned = true";
    document.body.append(script);
    return window.owned === undefined;
  });
  const plain = await fresh({ javaScriptEnabled: false });
  await plain.goto(address);
  await plain.locator("#q").fill(name);
  await plain.keyboard.press("Enter");
  await plain.waitForURL(/search\?q=/);
  seen.plain = await plain.locator("main td a").first().textContent();
  seen.address = plain.url().includes("token") ? "has the token" : "has no token";
  const live = await fresh({});
  await live.goto(address);
  await live.keyboard.press("/");
  await live.keyboard.type(name);
  await live.locator("#hits a").first().waitFor();
  seen.live = await live.locator("#hits a b").first().textContent();
  seen.complaints = [...plain.complaints, ...live.complaints];
  const other = await fresh({});
  seen.refused = (await other.goto(new URL(address).origin)).status();
  await browser.close();
  console.log(JSON.stringify(seen));
})().catch((error) => { console.error(error); process.exit(1); });
