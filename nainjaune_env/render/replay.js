// A recorded match, to go through by ply, decision and round. The data is what `replay_data` in replay_page.py returns.

/** Returns the data from its packed form in base64. */
export async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const PACE = 900; // milliseconds between plies that follow by themselves

/** Shows the pictures of the data as images; `save` is a link to each. */
function images(data, save) {
  const element = make("img", { id: "picture", className: "replay-picture", alt: "" });
  return { element, show(seen, ply) {
    const svg = data.views[seen].pictures[ply].map((part) => data.parts[part]).join("<");
    if (element.src) URL.revokeObjectURL(element.src);
    element.src = save.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    element.alt = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("title").textContent;
  } };
}

/**
 * Shows a match in `main`. The address says position and viewpoint, and whether plies follow by themselves, behind `prefix`;
 * `film(round, view)` asks for a film of a round as a viewpoint sees it, where films can be made. Nothing is shown any more after
 * `signal`, where there is one. A `board` shows positions with `show(view, ply, jump)` in its `element`; without it there are images.
 */
export function showReplay(main, data, { prefix = "", film = null, signal = undefined, board = null } = {}) {
  const { title, views, rounds, decisions, texts, words } = data;
  const last = rounds.at(-1).first + rounds.at(-1).pictures - 1;
  const firsts = rounds.map((each) => each.first);
  const button = (name, press) => make("button", { id: name, type: "button", textContent: words[name], onclick: press });
  const slider = make("input", { id: "ply", type: "range", min: 0, max: last, value: 0, ariaLabel: words.ply, oninput: () => show(now()) });
  const view = make("select", { id: "view", onchange: () => show(now()) }, ...views.map((each, number) => new Option(each.name, number)));
  const where = make("span", { id: "where", role: "status" });
  const save = make("a", { id: "save", download: "nainjaune.svg", textContent: words.save });
  const shown = board ?? images(data, save);
  const text = make("pre", { id: "text" });
  const now = () => Number(slider.value);
  const roundOf = (ply) => rounds.findLastIndex((each) => each.first <= ply);
  const steps = {
    back: () => now() - 1, on: () => now() + 1,
    "round-back": () => firsts.findLast((first) => first < now()) ?? 0, "round-on": () => firsts.find((first) => first > now()) ?? last,
    "decision-back": () => decisions.findLast((each) => each < now()) ?? 0, "decision-on": () => decisions.find((each) => each > now()) ?? last,
  };
  const stepper = (name) => button(name, () => show(steps[name]()));
  const auto = make("button", { id: "auto", type: "button", onclick: () => play(!timer) });
  let timer = 0;

  function play(wanted) {
    clearInterval(timer);
    timer = wanted ? setInterval(follow, PACE) : 0;
    auto.textContent = words[timer ? "pause" : "auto"];
    show(now());
  }

  function follow() {
    if (!main.contains(auto)) clearInterval(timer);
    else if (now() === last) play(false);
    else show(now() + 1);
  }
  main.replaceChildren(
    make("h1", { textContent: title }), shown.element,
    make("div", { className: "bar" }, ...["round-back", "decision-back", "back"].map(stepper), slider, ...["on", "decision-on", "round-on"].map(stepper)),
    make("div", { className: "bar" }, auto, make("label", {}, make("span", { textContent: words["view-label"] }), " ", view), where,
      ...(board ? [] : [save]),
      ...(film ? [button("film", () => film(roundOf(now()) + 1, Number(view.value)))] : [])),
    make("details", { open: true }, make("summary", { textContent: words["text-label"] }), text),
  );
  let before = [NaN, NaN];

  function show(ply, seen = Number(view.value)) {
    ply = Math.max(0, Math.min(last, ply));
    shown.show(seen, ply, before[0] !== seen || Math.abs(ply - before[1]) !== 1);
    before = [seen, ply];
    const round = roundOf(ply);
    slider.value = ply;
    where.textContent = words.where.replace("{round}", round + 1).replace("{ply}", ply - rounds[round].first).replace("{of}", rounds[round].pictures - 1);
    text.textContent = texts[round];
    history.replaceState(null, "", `#${prefix && `${prefix}&`}ply=${ply}&view=${seen}${timer ? "&auto=1" : ""}`);
  }

  function showAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!main.contains(shown.element) || (prefix && !given.has(prefix))) return; // the page shows something else
    view.value = Math.min(Math.max(Math.trunc(Number(given.get("view"))) || 0, 0), views.length - 1);
    show(Math.trunc(Number(given.get("ply"))) || 0);
    play(given.has("auto"));
  }
  window.addEventListener("hashchange", showAddress, { signal });
  showAddress();
}
