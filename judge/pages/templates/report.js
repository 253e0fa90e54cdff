"use strict";
// The answers of a run: unpacked as they are asked for, filtered, searched, paged, and looked into.
// Every text from outside becomes a text node: nothing here makes markup of a string.
(() => {
  const PAGE = 25;
  const KEPT = 8; // blocks that stay unpacked
  const at = (id) => document.getElementById(id);
  const words = JSON.parse(at("words").textContent);
  const say = (key, values = {}) =>
    (words[key] ?? key).replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (_, name, one, several) =>
      several === undefined ? values[name] ?? "" : values[name] === 1 ? one : several);
  const state = { rows: [], page: 0, asked: 0, chosen: null };
  const blocks = new Map();
  const searched = [];
  let index;

  // An element with attributes and children; a child that is a string becomes a text node.
  function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== "" && child != null));
    return made;
  }

  // Words from outside, in a direction of their own.
  const outside = (text) => make("bdi", { lang: "" }, text);
  const sign = (label) => [
    make("b", { class: "sign", "aria-hidden": "true" }, say(`mark.${label}`)),
    make("span", { class: "unseen" }, ` ${say(`label.${label}`)}: `),
  ];
  const colon = say("script.colon");
  // A tie goes to the even figure, as in the tables: 31.25 is 31.2, and toFixed would say 31.3.
  const rounded = (value) => (value % 1 === 0.25 ? value - 0.05 : value).toFixed(1);
  const percent = (share) => say("script.percent", { value: rounded(100 * share) }).replace(" ", "\u00a0");

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(at(id).textContent), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  function block(name) {
    const found = blocks.get(name) ?? unpack(name);
    blocks.delete(name);
    blocks.set(name, found);
    if (blocks.size > KEPT) blocks.delete(blocks.keys().next().value);
    return found;
  }

  // The answer in a row of the index.
  async function answerAt(row) {
    const { starts } = index;
    let low = 0;
    while (low + 1 < starts.length && starts[low + 1] <= row) low += 1;
    return (await block(`answers-${low}`))[row - starts[low]];
  }

  async function texts(number) {
    if (!searched[number]) {
      const found = await unpack(`answers-${number}`);
      searched[number] = found.map(({ qid, query, sentences, rest }) =>
        [qid, query, sentences.map(({ gap, text }) => gap + text).join("") + rest].join("\n").toLowerCase());
    }
    return searched[number];
  }

  // Rows that fit the filters and the search; nothing where another search began meanwhile.
  async function matches(asked) {
    const chosen = [...at("filters").querySelectorAll("select")]
      .filter(({ value }) => value).map(({ value }) => value);
    const rows = [...index.rows.keys()]
      .filter((row) => chosen.every((facet) => index.rows[row].includes(facet)));
    const wanted = at("search").value.trim().toLowerCase();
    if (!wanted) return rows;
    const fitting = new Set();
    for (const [number, start] of index.starts.entries()) {
      for (const [place, text] of (await texts(number)).entries()) {
        if (text.includes(wanted)) fitting.add(start + place);
      }
      if (asked !== state.asked) return null;
    }
    return rows.filter((row) => fitting.has(row));
  }

  async function find() {
    const asked = ++state.asked;
    at("found").textContent = say("script.searching");
    const rows = await matches(asked);
    if (rows === null || asked !== state.asked) return;
    state.rows = rows;
    await turn(0, asked);
  }

  async function turn(page, asked = ++state.asked) {
    const pages = Math.max(1, Math.ceil(state.rows.length / PAGE));
    const rows = state.rows.slice(page * PAGE, (page + 1) * PAGE);
    const made = [];
    for (const row of rows) made.push(article(row, await answerAt(row)));
    if (asked !== state.asked) return;
    close();
    state.page = page;
    at("list").replaceChildren(...(made.length ? made : [make("p", {}, say("script.nothing"))]));
    at("found").textContent =
      say("script.found", { count: state.rows.length, total: index.rows.length });
    at("page").textContent = say("script.page", { page: page + 1, pages });
    at("previous").disabled = page === 0;
    at("next").disabled = page + 1 >= pages;
  }

  // Whether there is such a page, and it is turned to, its top in view.
  function leaf(step) {
    const page = state.page + step;
    if (page < 0 || page * PAGE >= state.rows.length) return;
    turn(page).then(() => {
      at("answers").scrollIntoView();
      // A button that turns no further loses the focus; who reads by keyboard begins at the top.
      if (document.activeElement?.disabled !== false) at("answers").focus();
    });
  }

  function article(row, answer) {
    const { scores, bounds, sentences, flags } = answer;
    const line = [say(`status.${answer.status}`)];
    for (const [name, value] of Object.entries(scores)) {
      if (value != null) line.push(say(`script.${name}`, { value: percent(value) }));
    }
    if (bounds) {
      const [low, high] = bounds.map(percent);
      line.push(say("script.open", { low, high, unscored: answer.unscored }));
    }
    const text = make("div", { class: "answer", dir: "auto" });
    for (const [number, sentence] of sentences.entries()) {
      text.append(sentence.gap, said(sentence, number === 0));
    }
    text.append(answer.rest);
    if (!sentences.length) text.append(say("script.empty"));
    const body = make("div", {},
      make("h3", {}, outside(answer.qid)),
      make("p", { class: "note" }, line.join(" · ")),
      answer.query && make("p", {}, `${say("script.question")}${colon}`, outside(answer.query)),
      ...flags.filter((flag) => flag.sentence === undefined).map(flagged),
      text,
      answer.more ? make("p", { class: "note" }, say("script.more", { count: answer.more })) : "");
    const made = make("article", { "data-row": row }, body);
    const spans = [...text.querySelectorAll(".said")];
    made.addEventListener("click", ({ target }) => {
      const span = target.closest(".said");
      if (span) choose(span, row, spans.indexOf(span));
    });
    return made;
  }

  function said(sentence, first) {
    return make("span", {
      class: `said ${sentence.label}`, role: "button", tabindex: first ? 0 : -1,
      "aria-expanded": "false",
    }, ...sign(sentence.label),
    judged(sentence) ? "" : make("small", {}, `${say(`kind.${sentence.kind}`)} `), outside(sentence.text));
  }

  const judged = ({ outcome }) => outcome.type !== "excluded";
  const flagged = ({ name, detail }) =>
    make("p", { class: "note" }, `⚑ ${name}${colon}`, detail && outside(`${detail}${colon}`), say(`flag.${name}`));

  function close() {
    if (!state.chosen) return;
    state.chosen.setAttribute("aria-expanded", "false");
    const held = state.chosen.closest("article");
    held.classList.remove("open");
    held.querySelector(".detail")?.remove();
    state.chosen = null;
  }

  async function choose(span, row, number) {
    const again = state.chosen === span;
    close();
    if (again) return;
    state.chosen = span;
    const held = span.closest("article");
    for (const each of held.querySelectorAll(".said")) each.tabIndex = each === span ? 0 : -1;
    span.setAttribute("aria-expanded", "true");
    span.focus();
    const answer = await answerAt(row);
    if (state.chosen !== span) return;
    const made = detail(answer, number);
    held.append(made);
    held.classList.add("open");
    for (const mark of made.querySelectorAll("mark")) {
      const box = mark.closest(".chunk");
      box.scrollTop = mark.offsetTop - box.clientHeight / 3;
    }
    span.scrollIntoView({ block: "nearest" });
  }

  function detail(answer, number) {
    const sentence = answer.sentences[number];
    const { label, outcome } = sentence;
    const { reason = "", evidence = [], source, score, askings } = outcome;
    const isVerdict = outcome.type === "verdict";
    const failure = isVerdict ? outcome.fallback_from : judged(sentence) ? outcome : undefined;
    const cites = answer.citations.filter((each) => each.sentence === number);
    const flags = answer.flags.filter((each) => each.sentence === number);
    const head = [say(judged(sentence) ? `label.${label}` : `kind.${sentence.kind}`)];
    const probability = score ?? failure?.score;
    if (probability != null) head.push(say("script.probability", { value: percent(probability) }));
    if (source && !failure) head.push(say(`script.source_${source}`));
    const shut = make("button", { type: "button" }, say("script.close"));
    shut.addEventListener("click", () => { const span = state.chosen; close(); span?.focus(); });
    const made = make("section", { class: "detail", "aria-label": say("script.rests") },
      make("header", {},
        make("h4", { class: label }, ...sign(label),
          `${say("script.sentence", { number: number + 1 })} · ${head.join(" · ")}`),
        shut));
    if (failure && failure.reason !== "undecided") {
      made.append(make("p", {}, `${say("script.why")}${colon}${say(`unscored.${failure.reason}`)} `,
        outside(failure.detail)));
    }
    if (failure && isVerdict) {
      made.append(make("p", {}, say("script.instead",
        { source: say(`script.source_${source}`), label: say(`label.${outcome.support}`) })));
    }
    if (askings) {
      const told = askings.map((each) => say(`label.${each}` in words ? `label.${each}` : `unscored.${each}`));
      made.append(make("p", {}, `${say("script.asked", { count: askings.length })}${colon}${told.join(" · ")}`));
    }
    const why = isVerdict ? reason : failure?.reason === "undecided" ? failure.detail : "";
    if (why) made.append(make("p", {}, `${say("script.reason")}${colon}`, outside(why)));
    made.append(...flags.map(flagged), cited(cites));
    const shown = new Set();
    for (const each of evidence) made.append(...quoted(each, answer.chunks, shown));
    for (const id of cites.flatMap(({ chunk_id, suggested }) => [chunk_id, suggested])) {
      const chunk = answer.chunks.find((each) => each.id === id);
      if (chunk && !shown.has(chunk)) made.append(...passage(chunk, [chunk.text]));
      shown.add(chunk);
    }
    if (made.querySelector(".chunk") === null) made.append(make("p", { class: "note" }, say("script.nothing_shown")));
    if (answer.gone) made.append(make("p", { class: "caution" }, say("script.gone")));
    return made;
  }

  function cited(cites) {
    const list = make("ul", {});
    for (const { marker, chunk_id: chunk, status = "uncounted", reason, suggested } of cites) {
      const [before, after = ""] = words["script.cites"].split("{marker}");
      list.append(make("li", { class: `cite-${status}` },
        before, outside(marker), after, ...(chunk && !marker.includes(chunk) ? [" = ", outside(chunk)] : []),
        ` ${say(`citation.${status}`)}`, reason ? colon : "", reason ? outside(reason) : "",
        suggested ? "; " : "", suggested ? outside(say("script.would_hold", { chunk: suggested })) : ""));
    }
    return cites.length ? list : "";
  }

  // A chunk, the quote in it marked; where it is not at hand, or not found there, the quote alone.
  // Offsets count characters, of which some are two units of a string.
  function quoted({ chunk_id: id, quote, verified, start, end }, chunks, shown) {
    const chunk = chunks.find((each) => each.id === id);
    const characters = [...(chunk?.text ?? "")];
    const slice = (from, to) => characters.slice(from, to).join("");
    const [low, high] = [start - chunk?.before, end - chunk?.before];
    if (!verified || !(low >= 0) || slice(low, high) !== quote) {
      const title = say(verified ? "script.quote" : "script.missing", { chunk: id });
      return [make("h4", {}, outside(title)), box(outside(quote))];
    }
    shown.add(chunk);
    return passage(chunk, [slice(0, low), make("mark", {}, quote), slice(high)]);
  }

  function passage({ id, text, before, size }, parts) {
    const after = size - before - [...text].length;
    return [make("h4", {}, outside(say("script.chunk", { chunk: id }))), box(cut(before), ...parts, cut(after))];
  }

  const cut = (count) => (count ? make("i", { class: "note" }, ` ${say("script.cut", { count })} `) : "");
  const box = (...children) => make("div", { class: "chunk", dir: "auto", lang: "", tabindex: 0 }, ...children);

  function step(by) {
    const spans = [...at("list").querySelectorAll(".said")];
    const found = spans.indexOf(state.chosen ?? document.activeElement);
    const next = spans[found < 0 ? 0 : found + by];
    if (next) next.click();
  }

  function press(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && state.chosen) {
      const span = state.chosen;
      close();
      span.focus();
    }
    if (target.matches("input, select, textarea")) return;
    const keys = {
      "/": () => at("search").focus(),
      j: () => step(1),
      k: () => step(-1),
      ArrowRight: () => leaf(1),
      ArrowLeft: () => leaf(-1),
    };
    if (target.matches(".said")) keys.Enter = keys[" "] = () => target.click();
    if (!keys[key]) return;
    event.preventDefault();
    keys[key]();
  }

  async function start() {
    at("explorer").hidden = false;
    at("worst").hidden = true;
    at("jump").href = "#answers";
    index = await unpack("index");
    // A search field reports a change, too, once it is left: it was searched while it was typed.
    at("filters").addEventListener("change", ({ target }) => target.matches("select") && find());
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    at("filters").addEventListener("reset", () => setTimeout(find));
    at("search").addEventListener("input", find);
    at("previous").addEventListener("click", () => leaf(-1));
    at("next").addEventListener("click", () => leaf(1));
    document.addEventListener("keydown", press);
    await find();
  }

  if (typeof DecompressionStream === "function") start();
  else at("old").hidden = false;
})();
