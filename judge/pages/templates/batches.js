// The page of batches.
(() => {
  const lang = document.documentElement.lang === "en" ? "en" : "zh";
  const waiting = new Set(["queued", "checking", "running"]);
  const rows = new Map();
  const chosen = new Set();
  let batches = [];
  let most = 50;

  const attempt = (work) => async (event) => {
    event?.preventDefault();
    try {
      say("trouble", "");
      await work();
    } catch (error) {
      say("trouble", error.message);
    }
  };

  async function load() {
    batches = (await ask("/v1/batches?limit=1000")).batches;
    $("all").hidden = false;
    $("none").hidden = batches.length > 0;
    $("table").hidden = batches.length === 0;
    draw();
  }

  function draw() {
    const shown = batches.slice(0, most);
    for (const batch of shown) rows.set(batch.id, row(batch));
    $("rows").replaceChildren(...shown.map(({ id }) => rows.get(id)));
    $("more").hidden = batches.length <= most;
  }

  function link(batch, what, path, query) {
    const found = made("a", words[what]);
    found.href = `/v1/batches/${encodeURIComponent(batch.id)}/${path}${query ? `?lang=${lang}` : ""}`;
    found.setAttribute("aria-label", legible(fill("of", { what: words[what], name: batch.name || batch.id })));
    return found;
  }

  function choice(batch) {
    const box = made("input", "");
    box.type = "checkbox";
    box.checked = chosen.has(batch.id);
    box.setAttribute("aria-label", legible(fill("of", { what: words.compare, name: batch.name || batch.id })));
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(batch.id);
      else chosen.delete(batch.id);
      offer();
    });
    const found = made("label", "", box, ` ${words.compare}`);
    found.className = "check";
    return found;
  }

  // The link to the comparison of the two chosen batches, the later with the earlier.
  function offer() {
    const [later, earlier, ...others] = batches.filter(({ id }) => chosen.has(id));
    $("chosen").replaceChildren();
    if (!later) return;
    if (!earlier || others.length) return say("chosen", words.choose);
    const found = made("a", fill("compared", { later: later.name || later.id, earlier: earlier.name || earlier.id }));
    found.href = `/v1/batches/${encodeURIComponent(later.id)}/comparison?first=${encodeURIComponent(earlier.id)}&lang=${lang}`;
    $("chosen").append(found);
  }

  function pages(batch) {
    const found = made("div", "");
    found.className = "row";
    if (batch.state === "finished") {
      found.append(link(batch, "report", "report", true), link(batch, "label", "label", true));
      if (batch.labelled) found.append(link(batch, "agreement", "agreement", false));
      found.append(link(batch, "results", "results", false), choice(batch));
    } else if (waiting.has(batch.state)) {
      const stop = made("button", words.cancel);
      stop.type = "button";
      stop.setAttribute("aria-label", legible(fill("of", { what: words.cancel, name: batch.name || batch.id })));
      stop.addEventListener("click", attempt(async () => {
        change(await ask(`/v1/batches/${encodeURIComponent(batch.id)}`, { method: "DELETE" }));
      }));
      found.append(stop);
    }
    return found;
  }

  function state(batch) {
    const said = [];
    if (batch.problem) said.push(batch.problem.detail);
    if (batch.rejected) said.push(fill("rejected", { count: batch.rejected }));
    if (batch.exit_code === 3) said.push(words.untrusted);
    if (batch.exit_code === 1) said.push(words.gate);
    return [words[batch.state], ...said.map((text) => made("small", text))];
  }

  function done(batch) {
    const total = batch.total ?? 0;
    if (!waiting.has(batch.state) || !total) return [total ? `${batch.done} / ${total}` : "–"];
    const meter = made("progress", "");
    meter.max = total;
    meter.value = batch.done;
    meter.setAttribute("aria-label", words.head_done);
    return [meter, made("small", `${batch.done} / ${total}`)];
  }

  function row(batch) {
    const score = batch.summary?.faithfulness;
    const said = score ? [score.macro.toFixed(3)] : ["–"];
    if (score?.interval) said.push(made("small", `${score.interval.low.toFixed(3)}–${score.interval.high.toFixed(3)}`));
    if (score && batch.signature?.startsWith("similarity")) said.push(made("small", words.similarity));
    const name = made("bdi", batch.name || batch.id);
    const cells = [
      [name, ...(batch.name ? [made("small", batch.id)] : []), made("small", new Date(batch.arrived).toLocaleString(lang))],
      state(batch),
      done(batch),
      said,
      [pages(batch)],
    ].map((inner, place) => {
      const cell = made(place ? "td" : "th", "", ...inner);
      cell.setAttribute("role", place ? "cell" : "rowheader");
      if (place) cell.dataset.label = $("table").querySelectorAll("th[scope=col]")[place].textContent;
      else cell.scope = "row";
      return cell;
    });
    const found = made("tr", "", ...cells);
    found.setAttribute("role", "row");
    return found;
  }

  function change(batch) {
    const place = batches.findIndex((each) => each.id === batch.id);
    if (place < 0) return;
    const before = rows.get(batch.id);
    if (JSON.stringify(batches[place]) === JSON.stringify(batch)) return;
    batches[place] = batch;
    if (!before?.isConnected) return;
    // Only what says something else now: whoever has come to a button by keyboard stays there.
    for (const [number, cell] of [...row(batch).cells].entries()) {
      if (!cell.isEqualNode(before.cells[number])) before.cells[number].replaceWith(cell);
    }
  }

  // What goes on, and the totals of what has ended since the list came without them.
  async function look() {
    for (const each of batches.slice(0, most)) {
      if (!waiting.has(each.state) && !(each.state === "finished" && !each.summary)) continue;
      change(await ask(`/v1/batches/${encodeURIComponent(each.id)}`));
    }
  }
  let lost = "";
  async function watch() {
    try {
      if (!document.hidden && !$("all").hidden) await look();
      if (lost && $("trouble").textContent === lost) say("trouble", ""); // what a click met stays
      lost = "";
    } catch (error) {
      lost = error.message;
      say("trouble", lost);
    }
    setTimeout(watch, 1000);
  }

  $("upload").addEventListener("submit", attempt(async () => {
    const file = $("file").files[0];
    const query = new URLSearchParams({ name: $("name").value.trim() || file.name, skip_bad_lines: $("skip").checked });
    say("news", fill("sending", { name: file.name }));
    try {
      const batch = await ask(`/v1/batches?${query}`, { method: "POST", body: file });
      say("news", fill("sent", { id: batch.id }));
    } catch (error) {
      say("news", "");
      throw error;
    }
    $("upload").reset();
    await load();
  }));
  $("more").addEventListener("click", attempt(async () => {
    most += 50;
    draw();
  }));

  attempt(load)().then(watch);
})();
