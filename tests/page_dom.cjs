// Loads a report's page in jsdom, clicks and types, and prints what it shows as JSON. Argument: the page's path.
const { readFileSync } = require("node:fs");
const { JSDOM, VirtualConsole } = require("jsdom");

const errors = [];
const virtualConsole = new VirtualConsole();
virtualConsole.on("jsdomError", (error) => errors.push(String(error)));
const html = readFileSync(process.argv[2], "utf-8");
const { window } = new JSDOM(html, {
  runScripts: "dangerously",
  virtualConsole,
  beforeParse(made) {  // what needs layout is not in jsdom
    made.matchMedia = () => ({ matches: false });
    made.Element.prototype.scrollIntoView = () => {};
    made.alert = (text) => errors.push(`alert ${text}`);
  },
});
const { document } = window;
const $ = (id) => document.getElementById(id);
const shown = () => [...document.querySelectorAll("#list .name")].map((element) => element.textContent);
const typed = (text) => {
  $("text").value = text;
  $("text").dispatchEvent(new window.Event("input", { bubbles: true }));
};
const seen = { errors, names: shown(), cards: document.querySelectorAll(".card").length };
seen.foreign = document.querySelectorAll("img, iframe, object, #list a, #list b, #list script, .cards script").length;
typed("@everyone");
seen.found = shown();
document.querySelector("#list details").open = true;
document.querySelector("#list details").dispatchEvent(new window.Event("toggle"));
seen.evidence = document.querySelector("#list .body").textContent;
typed("");
document.querySelector("#levels .l-critical").click();
seen.without_critical = shown().length;
document.querySelector("#filters button[type=reset]").click();
seen.cleared = shown().length;
document.querySelectorAll(".card h3 a")[2].click();
const open = document.querySelector("#list details[open]");
seen.opened = open.querySelector(".name").textContent;
const tiles = [...document.querySelectorAll("#map .tile")];
seen.tiles = tiles.length;
tiles[0].focus();
tiles[0].dispatchEvent(new window.KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
seen.moved = document.activeElement === tiles[1];
seen.command = document.querySelector("#commands pre").textContent;
process.stdout.write(JSON.stringify(seen));
process.exit(0);
