"use strict";
// Search as you type, and keys: / goes to the search, j and k go from link to link. All pages read without this.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.body.dataset.root;
  const form = $("find") || formed(), field = $("q"), hits = $("hits") || hitList();
  const MOST = 60;
  let data = null, asked = false;

  // Pages on the disk have no form, which would find nobody to answer it.
  function formed() {
    const form = document.createElement("form"), field = document.createElement("input");
    form.id = "find";
    form.role = "search";
    Object.assign(field, { id: "q", name: "q", type: "search", autocomplete: "off", spellcheck: false, maxLength: 200, placeholder: "Search a name  /" });
    field.setAttribute("aria-label", "Search a name");
    form.append(field);
    document.querySelector("header").append(form);
    return form;
  }
  function hitList() {
    const list = document.createElement("div");
    list.id = "hits";
    list.role = "region";
    list.ariaLive = "polite";
    list.ariaLabel = "Names found";
    list.hidden = true;
    document.querySelector("header").after(list);
    return list;
  }

  // The names are a script, for a page from the disk may load no other file. Everything in it is shown as text, never as markup.
  window.lspidxNames = (given) => {
    data = given;
    data.low = data.names.map((row) => row[0].toLowerCase());
    search();
  };
  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement("script");
    script.src = `${root}assets/names.js`;
    script.addEventListener("error", () => say("The names cannot be loaded."));
    document.head.append(script);
  }
  function say(words) {
    const line = document.createElement("p");
    line.textContent = words;
    hits.replaceChildren(line);
    hits.hidden = false;
  }
  function row(href, name, kind, where) {
    const link = document.createElement("a");
    link.href = href;
    const title = document.createElement("b");
    title.textContent = name;
    const more = document.createElement("span");
    more.textContent = ` ${kind}  ${where}`;
    link.append(title, more);
    return link;
  }
  const full = (item) => [data.inside[item[1]], item[0]].filter(Boolean).join(".");

  function ranked(wanted) {
    const last = wanted.slice(wanted.lastIndexOf(".") + 1), dotted = wanted.includes(".");
    const groups = [[], [], [], []];
    for (let at = 0; at < data.low.length; at++) {
      const name = data.low[at], found = name.indexOf(last);
      if (found < 0) continue;
      if (dotted && !full(data.names[at]).toLowerCase().includes(wanted)) continue;
      groups[name === last ? 0 : found === 0 ? 1 : name[found - 1] === "_" ? 2 : 3].push(data.names[at]);
    }
    return groups.flat();
  }
  function search() {
    const wanted = field.value.trim().toLowerCase();
    if (!wanted) {
      hits.hidden = true;
      return;
    }
    if (!data) {
      say("Loading the names …");
      return;
    }
    const found = ranked(wanted);
    const files = wanted.length > 1 ? data.files.filter((item) => item[0].toLowerCase().includes(wanted)) : [];
    const shown = found.slice(0, MOST).map((item) => row(`${root}s/${item[5]}.html`, full(item), data.kinds[item[2]], `${data.files[item[3]][0]}:${item[4]}`));
    const left = files.slice(0, 12).map((item) => row(root + item[1], item[0], "file", ""));
    const total = document.createElement("p");
    total.textContent = `${found.length.toLocaleString("en")} names, ${files.length.toLocaleString("en")} files${found.length > MOST ? `; the first ${MOST}` : ""}`;
    hits.replaceChildren(total, ...shown, ...left);
    hits.hidden = false;
  }
  field.addEventListener("focus", load);
  field.addEventListener("input", () => { load(); search(); });
  form.addEventListener("submit", (event) => {
    const first = hits.querySelector("a");
    if (first || document.body.dataset.kind === "static") event.preventDefault();
    if (first) location.href = first.href;
  });

  function move(step) {
    const inside = !hits.hidden && (hits.contains(document.activeElement) || document.activeElement === field);
    const links = [...(inside ? hits : $("main")).querySelectorAll(inside ? "a" : "a:not(.code b > a:first-child), summary")].filter((link) => link.offsetParent);
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
    if (next < 0 && inside) field.focus();
    else links[Math.max(0, Math.min(links.length - 1, next))].focus();
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    const inHits = hits.contains(document.activeElement) || document.activeElement === field;
    if (event.key === "Escape") {
      if (inHits && !hits.hidden) { field.blur(); $("main").focus(); }
      hits.hidden = true;
    } else if (event.key === "ArrowDown" && inHits) {
      event.preventDefault();
      move(1);
    } else if (event.key === "ArrowUp" && inHits) {
      event.preventDefault();
      move(-1);
    } else if (!typing && event.key === "/") {
      event.preventDefault();
      field.focus();
      field.select();
    } else if (!typing && (event.key === "j" || event.key === "k")) {
      event.preventDefault();
      move(event.key === "j" ? 1 : -1);
    }
  });
})();
