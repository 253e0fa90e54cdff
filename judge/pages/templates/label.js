// The page to label on.
(() => {
  const base = location.pathname.replace(/\/$/, "");
  const asked = new URLSearchParams(location.search);
  const past = [];
  let rows = [];
  let at = 0;
  let busy = false;
  let line = Promise.resolve();

  const finished = (row) => row.label !== "" || row.skip;
  const saidOf = (row) => row.skip ? words.skip : words[`label.${row.label}`] ?? row.label;

  const rowOf = (row, said) => ask(`${base}/rows${row ? `/${row.review_id}` : ""}?${asked}`, said && {
    method: "PUT", keepalive: true, body: JSON.stringify(said), headers: { "Content-Type": "application/json" },
  });

  // In order; and a key that comes while another is at work is for a sentence not yet seen.
  function queued(work) {
    line = line.then(work).then(() => say("trouble", ""), (error) => say("trouble", fill("failed", { why: error.message })));
    return line;
  }
  function once(work) {
    if (busy) return;
    busy = true;
    queued(work).finally(() => { busy = false; });
  }

  function told() {
    const counts = { all: rows.length, done: 0, skipped: 0 };
    for (const row of rows) {
      if (row.label) counts.done += 1;
      else if (row.skip) counts.skipped += 1;
    }
    $("meter").max = Math.max(1, rows.length);
    $("meter").value = counts.done + counts.skipped;
    say("count", fill("progress", counts));
    say("end-said", fill("end_said", counts));
    $("again").hidden = counts.skipped === 0;
  }

  const kind = (name, element) => Object.assign(element, { className: name });
  const note = (text) => kind("note", made("p", text));

  function passage(place, text, signs) {
    const part = made("mark", "");
    if (text.part) {
      if (signs) part.append(kind("unseen", made("span", words.begins)));
      part.append(text.part);
      if (signs) part.append(kind("unseen", made("span", words.ends)));
      place.append(text.before, part, text.after);
    } else place.append(text.before, text.after);
    return text.part ? part : null;
  }

  function into(box, part) {
    box.scrollTop = 0;
    if (!part) return;
    const from = part.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop = from - Math.max(24, (box.clientHeight - part.offsetHeight) / 3);
  }

  function evidence(found) {
    const box = $("evidence");
    box.replaceChildren();
    let first = null;
    if (found.evidence.length === 0) box.append(note(words.no_chunks));
    for (const each of found.evidence) {
      if (each.name) {
        const head = made("h4", each.name);
        head.dir = "auto";
        box.append(head);
      }
      const text = kind("chunk", made("div", ""));
      text.dir = "auto";
      text.lang = "";
      first = passage(text, each, false) ?? first;
      box.append(text);
      if (each.left_out) box.append(note(fill("left_out", { count: each.left_out })));
    }
    if (first) box.append(note(words.near));
    into(box, first);
  }

  async function show(place) {
    const row = rows[place];
    const found = await rowOf(row);
    at = place;
    $("end").hidden = true;
    $("desk").hidden = false;
    say("place", fill("place", { at: at + 1, all: rows.length }));
    $("query").textContent = found.query || words.no_query;
    $("answer").replaceChildren();
    const part = passage($("answer"), found.claim, true);
    say("answer-cut", found.claim.left_out ? fill("left_out", { count: found.claim.left_out }) : "");
    evidence(found);
    into($("answer"), part);
    $("note").value = row.note;
    for (const each of document.querySelectorAll(".say")) {
      each.setAttribute("aria-pressed", String(each.dataset.label === row.label));
    }
    $("skip").setAttribute("aria-pressed", String(row.skip));
    $("before").disabled = at === 0;
    $("after").disabled = at === rows.length - 1;
    history.replaceState(null, "", `#${row.review_id}`);
    $("place").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function ended() {
    $("desk").hidden = true;
    $("end").hidden = false;
    history.replaceState(null, "", location.pathname + location.search);
    $("ended").focus();
  }

  // The first that is open from a place on, and then from the start.
  function open(from) {
    for (let step = 0; step < rows.length; step += 1) {
      const place = (from + step) % rows.length;
      if (!finished(rows[place])) return place;
    }
    return -1;
  }

  async function keep(place, entry) {
    const { label, skip, note } = rows[place];
    await rowOf(rows[place], entry);
    past.push({ place, entry: { label, skip, note } });
    Object.assign(rows[place], entry);
    told();
  }

  const decide = (label, skip) => once(async () => {
    await keep(at, { label, skip, note: $("note").value.trim() });
    say("news", fill("saved", { what: saidOf(rows[at]) }));
    const next = open(at + 1);
    if (next < 0) ended();
    else await show(next);
  });

  const undo = () => once(async () => {
    const last = past.pop();
    if (!last) {
      say("news", words.nothing_back);
      return;
    }
    try {
      await rowOf(rows[last.place], last.entry);
    } catch (error) {
      past.push(last);
      throw error;
    }
    Object.assign(rows[last.place], last.entry);
    told();
    await show(last.place);
    say("news", words.taken_back);
  });

  const noted = () => queued(async () => {
    const note = $("note").value.trim();
    if (note === rows[at].note) return;
    // On another screen the same reviewer may have labelled it meanwhile: that stays.
    const found = (await rowOf()).rows.find((row) => row.review_id === rows[at].review_id);
    if (found) Object.assign(rows[at], found);
    await keep(at, { label: rows[at].label, skip: rows[at].skip, note });
    say("news", fill("saved", { what: words.note }));
  });

  const move = (place) => {
    if (place >= 0 && place < rows.length) once(() => show(place));
  };
  const skipped = () => {
    const place = rows.findIndex((row) => row.skip);
    if (place >= 0) move(place);
  };

  function scroll(event) {
    const box = $("evidence");
    const by = { ArrowUp: -60, ArrowDown: 60, PageUp: -box.clientHeight + 40, PageDown: box.clientHeight - 40 }[event.key];
    if (by === undefined || document.activeElement === $("answer")) return;
    if (by < 0 && box.scrollTop === 0) return; // the page goes up
    box.scrollTop += by;
    $("held").scrollIntoView(); // in a low window it stands below, behind the labels
    event.preventDefault();
  }

  const keys = {
    s: () => decide("", true),
    u: undo,
    c: () => $("note").focus(),
    "?": () => $("keys").showModal(),
    ArrowLeft: () => move(at - 1),
    ArrowRight: () => move(at + 1),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "Enter" && event.target === $("note")) $("place").focus();
      return;
    }
    if (event.target === $("note") && event.key === "Escape") $("place").focus();
    if (event.target.matches("textarea, input, select") || rows.length === 0) return;
    const held = event.repeat; // a key that is held down labels one sentence, and not ten
    const number = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (document.querySelector("dialog[open]")) return;
    if (!$("end").hidden) {
      if (event.key === "ArrowLeft") move(at);
      else if (event.key === "s") skipped();
      else if (event.key === "u") undo();
    } else if (number >= 0 && !held) document.querySelectorAll(".say")[number]?.click();
    else if (keys[event.key] && !(held && event.key.length === 1)) {
      event.preventDefault();
      keys[event.key]();
    } else scroll(event);
  });

  for (const each of document.querySelectorAll(".say")) {
    each.addEventListener("click", () => decide(each.dataset.label, false));
  }
  for (const each of document.querySelectorAll(".close")) {
    each.addEventListener("click", () => each.closest("dialog").close());
  }
  for (const [id, work] of Object.entries({ skip: keys.s, undo, help: keys["?"], before: keys.ArrowLeft, after: keys.ArrowRight, back: () => move(at), again: skipped })) {
    $(id).addEventListener("click", work);
  }
  $("note").addEventListener("change", noted);
  $("import")?.addEventListener("click", () => once(async () => {
    const agreement = await ask(`${base}s?lang=${asked.get("lang") ?? "en"}`, { method: "POST" });
    say("imported", fill("imported", { count: agreement.labels }));
    $("to-agreement").hidden = false;
  }));
  $("name").addEventListener("submit", (event) => {
    event.preventDefault();
    asked.set("reviewer", $("reviewer").value.trim());
    location.search = asked;
  });

  const other = new URLSearchParams(asked);
  other.set("lang", document.documentElement.lang === "en" ? "zh" : "en");
  $("language").href = `${base}?${other}`;
  if (!asked.has("reviewer")) {
    $("name").hidden = false;
    $("reviewer").focus();
    return;
  }
  say("who", asked.get("reviewer") ? fill("by", { name: asked.get("reviewer") }) : "");
  once(async () => {
    const found = await rowOf();
    rows = found.rows;
    told();
    if (found.fresh) say("news", fill("fresh", { all: rows.length }));
    const named = rows.findIndex((row) => `#${row.review_id}` === location.hash);
    const place = named >= 0 ? named : open(0);
    at = Math.max(0, place);
    if (place < 0) ended();
    else await show(place);
  });
})();
