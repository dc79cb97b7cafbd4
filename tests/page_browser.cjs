// Opens a report's pages in Chromium, uses them with the keyboard, takes screenshots and prints what it saw as JSON.
// Arguments: the browser, the folder with report.html and graph.html, which gets the screenshots.
const { chromium } = require("playwright-core");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

(async () => {
  const [executablePath, folder] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const seen = {};
  async function open(name, file, colorScheme, width, height) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height } });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("dialog", (dialog) => { complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!request.url().startsWith("file:")) complaints.push(`network ${request.url()}`); });
    await page.goto(`file://${folder}/${file}`);
    seen[name] = {
      overflow: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      foreign: await page.evaluate(() => document.querySelectorAll("img, iframe, object, #list a, #list b, main script").length),
      background: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    };
    const whole = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height: Math.min(whole, 4000) });
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.setViewportSize({ width, height });
    seen[name].complaints = [...complaints];
    return page;
  }
  const page = await open("light", "report.html", "light", 1280, 900);
  await open("dark", "report.html", "dark", 1280, 900);
  await open("narrow", "report.html", "light", 390, 844);
  await open("graph", "graph.html", "light", 1280, 900);

  await page.keyboard.press("/");
  await page.keyboard.type("@everyone");
  seen.found = await page.locator("#list .name").allTextContents();
  await page.locator("#list summary").first().focus();
  await page.keyboard.press("Enter");
  seen.evidence = await page.locator("#list .body").first().textContent();
  seen.opened_by_keyboard = await page.locator("#list details").first().evaluate((element) => element.open);
  await page.screenshot({ path: `${folder}/found.png` });
  const link = page.locator("svg a").last();
  const target = (await link.getAttribute("href")).slice(1);
  await link.focus();
  await page.keyboard.press("Enter");
  seen.opened_from_graph = await page.evaluate((id) => document.getElementById(id).open && document.activeElement.closest("details").id === id, target);
  await page.locator("#commands button").first().click();
  await page.locator("#said:not(:empty)").waitFor();
  seen.copied = await page.locator("#said").textContent();
  seen.script_refused = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.owned = true";
    document.body.append(script);
    return window.owned === undefined;
  });
  seen.fetch_refused = await page.evaluate(() => fetch("https://example.invalid/").then(() => false, () => new Promise((told) => {
    document.addEventListener("securitypolicyviolation", () => told(true), { once: true });
    fetch("https://example.invalid/").catch(() => setTimeout(() => told(false), 1000));
  })));
  await browser.close();
  process.stdout.write(JSON.stringify(seen));
})().catch((error) => { process.stderr.write(String(error)); process.exit(1); });
