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

/**
 * Shows a match in `main`. The address says position and viewpoint, behind `prefix`; `film(round, view)` asks for a film of a
 * round as a viewpoint sees it, where films can be made. Nothing is shown any more after `signal`, where there is one.
 */
export function showReplay(main, data, { prefix = "", film = null, signal = undefined } = {}) {
  const { title, parts, views, rounds, decisions, texts, words } = data;
  const last = rounds.at(-1).first + rounds.at(-1).pictures - 1;
  const firsts = rounds.map((each) => each.first);
  const button = (name, press) => make("button", { id: name, type: "button", textContent: words[name], onclick: press });
  const picture = make("img", { id: "picture", className: "replay-picture", alt: "" });
  const slider = make("input", { id: "ply", type: "range", min: 0, max: last, value: 0, ariaLabel: words.ply, oninput: () => show(now()) });
  const view = make("select", { id: "view", onchange: () => show(now()) }, ...views.map((each, number) => new Option(each.name, number)));
  const where = make("span", { id: "where", role: "status" });
  const save = make("a", { id: "save", download: "nainjaune.svg", textContent: words.save });
  const text = make("pre", { id: "text" });
  const now = () => Number(slider.value);
  const roundOf = (ply) => rounds.findLastIndex((each) => each.first <= ply);
  const steps = {
    back: () => now() - 1, on: () => now() + 1,
    "round-back": () => firsts.findLast((first) => first < now()) ?? 0, "round-on": () => firsts.find((first) => first > now()) ?? last,
    "decision-back": () => decisions.findLast((each) => each < now()) ?? 0, "decision-on": () => decisions.find((each) => each > now()) ?? last,
  };
  const stepper = (name) => button(name, () => show(steps[name]()));
  main.replaceChildren(
    make("h1", { textContent: title }), picture,
    make("div", { className: "bar" }, ...["round-back", "decision-back", "back"].map(stepper), slider, ...["on", "decision-on", "round-on"].map(stepper)),
    make("div", { className: "bar" }, make("label", {}, make("span", { textContent: words["view-label"] }), " ", view), where, save,
      ...(film ? [button("film", () => film(roundOf(now()) + 1, Number(view.value)))] : [])),
    make("details", { open: true }, make("summary", { textContent: words["text-label"] }), text),
  );
  let link = "";

  function show(ply, seen = Number(view.value)) {
    ply = Math.max(0, Math.min(last, ply));
    const svg = views[seen].pictures[ply].map((part) => parts[part]).join("<");
    if (link) URL.revokeObjectURL(link);
    link = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    picture.src = save.href = link;
    picture.alt = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("title").textContent;
    const round = roundOf(ply);
    slider.value = ply;
    where.textContent = words.where.replace("{round}", round + 1).replace("{ply}", ply - rounds[round].first).replace("{of}", rounds[round].pictures - 1);
    text.textContent = texts[round];
    history.replaceState(null, "", `#${prefix && `${prefix}&`}ply=${ply}&view=${seen}`);
  }

  function showAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!main.contains(picture) || (prefix && !given.has(prefix))) return; // the page shows something else
    view.value = Math.min(Math.max(Math.trunc(Number(given.get("view"))) || 0, 0), views.length - 1);
    show(Math.trunc(Number(given.get("ply"))) || 0);
  }
  window.addEventListener("hashchange", showAddress, { signal });
  showAddress();
}
