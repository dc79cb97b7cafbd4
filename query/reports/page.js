"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const PAGE = 100;
  const LETTERS = { critical: "C", high: "H", medium: "M", unknown: "?", low: "L", info: "i" };

  // Everything that is shown goes through here: text becomes text nodes, never markup.
  function make(tag, props, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === undefined || value === false || value === "") continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name === "cls" ? "class" : name, value === true ? "" : String(value));
    }
    for (const child of children.flat(9)) if (child !== null && child !== undefined && child !== false && child !== "") made.append(child);
    return made;
  }
  // Long names may break after their separators.
  const soft = (text) => text.split(/(?<=[._:/])(?=[^._:/])/).flatMap((part) => [part, make("wbr")]).slice(0, -1);
  const plural = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  const badge = (level, large) => make("span", { cls: `badge l-${level}${large ? " large" : ""}` }, level);
  const tag = (text, cls) => make("span", { cls: `tag ${cls || ""}` }, text);
  const place = (item) => `${item.file}:${item.line}${item.old_side ? " (old side)" : ""}`;

  // ---- head

  $("compared").textContent = data.compared;
  $("level").append(data.counts && Object.keys(data.counts).length ? badge(data.level, true) : make("span", { cls: "badge large l-info" }, "nothing above info"));
  if (data.notes.length) $("notes").append(make("div", { cls: "notes" }, data.notes.map((line) => make("p", {}, line))));
  if (data.status === "complete") $("notes").append(make("p", { cls: "good" }, "✓ complete: nothing is known to be missing from this report"));
  const stats = [
    [data.totals.files, "files"],
    [data.totals.lines_added, "lines added"],
    [data.totals.lines_removed, "lines removed"],
    [data.totals.symbols, "changed symbols"],
    ...Object.entries(data.counts).map(([level, number]) => [number, level]),
    [data.totals.stale_sites, "uses not updated"],
    [data.totals.tests, "tests reach it"],
    ...(data.accepted ? [[data.accepted, "accepted"]] : []),
  ];
  $("stats").append(...stats.map(([number, what]) => make("li", {}, make("b", {}, number.toLocaleString("en")), make("span", {}, what))));
  $("made").textContent = data.made;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").addEventListener("click", () => {
    dark = !dark;
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
  });

  // ---- one finding

  function signatures(item) {
    if (!item.old_signature) return null;
    return make("div", { cls: "diff" }, make("div", { cls: "minus" }, `− ${item.old_signature}`), make("div", { cls: "plus" }, `+ ${item.signature}`));
  }
  function facts(item) {
    const parts = [
      `${item.lines[0]} old and ${item.lines[1]} new lines`,
      plural(item.callers, "caller") + (item.packages.length ? ` in ${item.packages.join(", ")}` : ""),
      item.overrides ? plural(item.overrides, "override") : "",
      `${plural(item.tests, "test")} reach${item.tests === 1 ? "es" : ""} it`,
      item.commits ? `${plural(item.commits, "recent commit")} on its file` : "",
      item.exported ? "exported" : "",
    ];
    return make("p", { cls: "facts" }, parts.filter(Boolean).join(" · "));
  }
  function sites(item, most) {
    if (!item.sites.length) return null;
    const brief = item.sites.filter((site) => site.stale || (!site.test && site.relation !== "import"));
    const shown = (most < 10 && brief.length ? brief.sort((left, right) => right.stale - left.stale) : item.sites).slice(0, most);
    const rows = shown.map((site) => {
      const notes = [
        site.stale ? tag("not updated", "stale") : site.updated ? tag("updated", "ok") : null,
        site.relation === "call" ? null : tag(site.relation),
        site.test ? tag("test") : null,
        site.dispatch ? tag("dispatch") : null,
        site.old ? tag("old side") : null,
      ];
      return make("li", { cls: site.stale ? "stale" : "", title: `evidence: ${site.evidence}` },
        make("div", { cls: "at" }, make("code", {}, soft(`${site.path}:${site.line}`)), site.caller ? make("span", { cls: "dim" }, "in ", soft(site.caller)) : "", notes),
        site.text ? make("pre", {}, site.text) : "");
    });
    const left = item.listed - shown.length;
    return [
      make("h4", {}, "Used at"),
      make("ul", { cls: "sites" }, rows),
      left > 0 ? make("p", { cls: "dim" }, `… and ${item.listed >= 50 ? "at least " : ""}${left} more`) : null,
    ];
  }
  function reasons(item) {
    return make("ul", { cls: "reasons" }, item.reasons.map(([code, says]) => make("li", {}, says, " ", make("code", {}, code))));
  }
  function body(item, most) {
    return [
      item.accepted ? make("p", {}, tag("accepted", "ok"), ` ${item.accepted}`) : null,
      item.was ? make("p", { cls: "facts" }, "was ", make("code", {}, item.was)) : null,
      reasons(item), signatures(item), facts(item), sites(item, most),
    ];
  }

  // ---- the three to read

  const first = data.findings.filter((item) => item.first);
  if (first.length) {
    $("first").append(...first.map((item) => make("article", { cls: `card t-${item.level}` },
      make("div", { cls: "tags" }, badge(item.level), tag(item.what), tag(item.kind), item.stale ? tag(`${item.stale} not updated`, "stale") : null),
      make("h3", {}, make("a", { href: `#f-${item.id}`, cls: "mono" }, soft(item.name))),
      make("div", { cls: "place" }, soft(place(item))),
      body(item, 4))));
  } else $("first-section").hidden = true;

  // ---- pictures

  if (data.graph.edges) {
    const left = data.graph.left ? `; ${data.graph.left} more are left out` : "";
    $("graph-note").textContent = `${plural(data.graph.edges, "edge")}, callers on the left${left}. Dashed red: written for the old state, and not updated.`;
  } else $("graph-section").hidden = true;

  function stretch(element, box) {
    ["left", "top", "width", "height"].forEach((name, number) => { element.style[name] = `${box[number]}%`; });
    return element;
  }
  if (data.treemap.length) {
    const used = new Set(data.treemap.flatMap((file) => [file.level, ...file.tiles.map((tile) => tile.level)]));
    $("legend").append(...data.levels.filter((level) => used.has(level)).map((level) => make("li", {}, make("span", { cls: `badge l-${level}` }, `${LETTERS[level]} ${level}`))));
    const tiles = [];
    const tile = (cls, label, text, act, box) => {
      const made = stretch(make("button", { type: "button", cls: `tile ${cls}`, tabindex: tiles.length ? -1 : 0, title: label, "aria-label": label, onclick: act }, text), box);
      tiles.push(made);
      return made;
    };
    for (const file of data.treemap) {
      const [, , width, height] = file.box;
      if (!file.path) {
        $("map").append(tile("rest", `${file.count} more files, ${plural(file.lines, "line")}, worst ${file.level}`, `${file.count} more files, worst ${file.level}`, () => $("file").focus(), file.box));
        continue;
      }
      const small = width < 7 || height < 14;
      const inner = make("div", { cls: "in" });
      for (const item of file.tiles) {
        const name = item.name || plural(item.count, "smaller symbol");
        const roomy = (item.box[2] * width) / 100 > 1.6 && (item.box[3] * height) / 100 > 4;
        inner.append(tile(`l-${item.level}`, `${name} in ${file.path}: ${plural(item.lines, "line")}, ${item.level}`, roomy ? `${LETTERS[item.level]} ${name}` : "",
          () => (item.id ? open(item.id) : onlyFile(file.path)), item.box));
      }
      $("map").append(stretch(make("div", { cls: `box${small ? " small" : ""}` }, small ? null : make("div", { cls: "head", title: file.path }, make("bdi", {}, file.path)), inner), file.box));
    }
    $("map").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = tiles.indexOf(document.activeElement);
      if (!step || at < 0) return;
      event.preventDefault();
      const next = tiles[(at + step + tiles.length) % tiles.length];
      tiles[at].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  } else $("map-section").hidden = true;

  // ---- the list and its filters

  const words = new Map(data.findings.map((item) => [item.id, [item.name, item.file, item.was, item.rule, item.what, item.kind,
    ...item.reasons.flat(), ...item.sites.flatMap((site) => [site.path, site.caller, site.text])].join("\n").toLowerCase()]));
  const off = new Set();
  let most = PAGE;

  const by = (name) => {
    const counts = new Map();
    for (const item of data.findings) counts.set(item[name], (counts.get(item[name]) || 0) + 1);
    return [...counts].sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
  };
  for (const name of ["what", "kind", "file"]) {
    $(name).append(make("option", { value: "" }, "all"), ...by(name).map(([value, number]) => make("option", { value }, `${value} (${number})`)));
    $(name).firstChild.value = "";
  }
  const levels = new Map(by("level"));
  for (const level of data.levels.filter((name) => levels.has(name))) {
    $("levels").append(make("button", { type: "button", cls: `chip l-${level}`, "aria-pressed": "true", onclick: (event) => {
      if (!off.delete(level)) off.add(level);
      event.currentTarget.setAttribute("aria-pressed", String(!off.has(level)));
      refresh();
    } }, `${level} ${levels.get(level)}`));
  }
  function fits(item) {
    const typed = $("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    return !off.has(item.level) && ["what", "kind", "file"].every((name) => !$(name).value || $(name).value === item[name])
      && typed.every((word) => words.get(item.id).includes(word));
  }
  function entry(item) {
    const made = make("details", { cls: "finding", id: `f-${item.id}` },
      make("summary", {}, badge(item.level),
        make("div", { cls: "who" }, make("div", { cls: "name" }, soft(item.name)), make("div", { cls: "place" }, `${item.what} ${item.kind} · `, soft(place(item)))),
        make("div", { cls: "meta" }, item.accepted ? tag("accepted", "ok") : null, item.first ? tag("read first") : null,
          item.stale ? tag(`${item.stale} not updated`, "stale") : null, item.callers ? tag(plural(item.callers, "caller")) : null)));
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) made.append(make("div", { cls: "body" }, body(item, 25)));
    });
    return made;
  }
  function refresh(keep) {
    if (!keep) most = PAGE;
    const fitting = data.findings.filter(fits);
    $("list").replaceChildren(...fitting.slice(0, most).map(entry));
    const rest = data.total - data.findings.length;
    $("shown").textContent = `${fitting.length} of ${data.findings.length}` + (rest ? `; ${rest} more are not in this page` : "");
    $("more").hidden = fitting.length <= most;
    $("more").textContent = `Show ${Math.min(PAGE, fitting.length - most)} more`;
  }
  function clear() {
    off.clear();
    for (const chip of $("levels").querySelectorAll("button")) chip.setAttribute("aria-pressed", "true");
    for (const name of ["what", "kind", "file", "text"]) $(name).value = "";
  }
  function onlyFile(path) {
    clear();
    if (data.findings.some((item) => item.file === path)) $("file").value = path;
    else $("text").value = path;
    refresh();
    $("findings").scrollIntoView();
    $("findings").focus({ preventScroll: true });
  }
  function open(id) {
    const at = data.findings.findIndex((item) => item.id === id);
    if (at < 0) return;
    let found = $(`f-${id}`);
    if (!found) {
      clear();
      most = Math.max(most, at + 1);
      refresh(true);
      found = $(`f-${id}`);
    }
    found.open = true;
    found.scrollIntoView({ block: "center" });
    found.querySelector("summary").focus({ preventScroll: true });
  }
  $("filters").addEventListener("input", () => refresh());
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); refresh(); });
  $("more").addEventListener("click", () => { most += PAGE; refresh(true); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#f-']");
    if (!link) return;
    event.preventDefault();
    open(link.getAttribute("href").slice(3));
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement ? document.activeElement.tagName : "");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      $("text").focus();
    } else if ((event.key === "j" || event.key === "k") && !typing) {
      const all = [...$("list").querySelectorAll("summary")];
      const at = all.indexOf(document.activeElement);
      const next = all[Math.max(0, Math.min(all.length - 1, at + (event.key === "j" ? 1 : -1)))];
      if (next) next.focus();
    }
  });
  refresh();
  if (location.hash.startsWith("#f-")) open(location.hash.slice(3));
  if (!data.total) $("findings").textContent = "Findings: none";

  // ---- tests and rules

  async function copy(text) {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = make("textarea", { readonly: true });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    $("said").textContent = done ? "Copied" : "The browser does not let this page copy";
    setTimeout(() => { $("said").textContent = ""; }, 2000);
  }
  const table = (names, rows) => make("table", {}, make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, rows));
  if (data.totals.tests) {
    $("tests-count").textContent = `${plural(data.totals.tests, "test")}, nearest first` + (data.tests.length < data.totals.tests ? `; the first ${data.tests.length} are listed` : "");
    $("commands").append(...data.commands.map(([runner, line, number]) => make("div", { cls: "command" },
      make("pre", { tabindex: 0, "aria-label": `${runner}, ${plural(number, "test")}` }, line),
      make("button", { type: "button", onclick: () => copy(line) }, "Copy"))));
    $("tests-fold").addEventListener("toggle", () => {
      if ($("tests").firstChild) return;
      $("tests").append(table(["test", "distance", "by"], data.tests.map(([selector, distance, via, , imported]) => make("tr", {},
        make("td", {}, make("code", {}, soft(selector))), make("td", {}, `${distance}${imported ? " (import)" : ""}`), make("td", {}, make("code", {}, soft(via)))))));
    });
  } else $("tests-section").hidden = true;
  $("rules").append(table(["rule", "level", "why"], data.rules.map(([code, level, why]) => make("tr", {},
    make("td", {}, make("code", {}, code)), make("td", {}, level === "raises" ? "one level up" : badge(level)), make("td", {}, why)))));
})();
