// Faces of players, made from their names: the same name has the same face everywhere.

import { picture, svg } from "./svg.js";

const SKINS = ["#f6d0ae", "#e9b58b", "#cf9466", "#a86f45", "#7b4a2c"];
const HAIRS = ["#2b2320", "#6a4327", "#b5793a", "#e0b354", "#b9b6b0", "#9c3d24"];
const GROUNDS = ["#c8e0d4", "#f2dcaa", "#d6d3ef", "#f3c9bd", "#c9dff0", "#e3e0c8"];
const CLOTHES = ["#1e5b46", "#8c3b2e", "#34508c", "#6b4f8f", "#a3741c", "#2b6b75"];

/** Returns a picture of the face of `name`, 64 by 64. */
export function avatar(name) {
  const draws = drawsOf(name);
  const pick = (list) => list[draws() % list.length];
  const [skin, hair, ground, clothes] = [pick(SKINS), pick(HAIRS), pick(GROUNDS), pick(CLOTHES)];
  const path = (d, fill, more = {}) => svg("path", { d, fill, ...more });
  const line = (d, stroke, width = 1.8) => path(d, "none", { stroke, "stroke-width": width, "stroke-linecap": "round" });
  const tops = [
    [path("M15 30Q14 11 32 11T49 30Q45 20 32 20T15 30Z", hair)],
    [path("M14 34Q10 10 32 10T50 34L47 36Q48 22 38 21Q30 25 18 23L17 36Z", hair)],
    [path("M13 46Q9 10 32 10T51 46L46 47Q49 24 32 20Q15 24 18 47Z", hair)],
    [path("M15 25Q20 8 32 8T49 25Q32 16 15 25Z", clothes), path("M13 26Q32 15 51 26L50 29Q32 19 14 29Z", "#0004")],
    [path("M16 24L30 1Q37 -1 40 8L48 24Q32 15 16 24Z", "#f2c230", { stroke: "#8a6100" }), svg("circle", { cx: 33, cy: 4, r: 3.4, fill: "#fff6d8" })],
    [path("M18 22V7Q32 3 46 7V22Z", "#2c2a36"), path("M9 23Q32 13 55 23Q32 19 9 23Z", "#2c2a36"), path("M18 19Q32 14 46 19V15Q32 11 18 15Z", "#a01c14")],
  ];
  const beards = [
    [], [], [],
    [path("M18 38Q18 58 32 58T46 38Q40 46 32 44Q24 46 18 38Z", hair), path("M26 46Q32 50 38 46Q32 48 26 46Z", "#a4483d")],
    [path("M22 43Q27 38 32 42Q37 38 42 43Q37 45 32 44Q27 45 22 43Z", hair)],
  ];
  const eyes = [
    [27, 37].flatMap((x) => [svg("circle", { cx: x, cy: 33, r: 2, fill: "#27211c" }), svg("circle", { cx: x + 0.6, cy: 32.3, r: 0.6, fill: "#fff" })]),
    [line("M24.5 33.5Q27 30.5 29.5 33.5", "#27211c"), line("M34.5 33.5Q37 30.5 39.5 33.5", "#27211c")],
    [27, 37].flatMap((x) => [svg("circle", { cx: x, cy: 33, r: 1.7, fill: "#27211c" }), svg("circle", { cx: x, cy: 33, r: 4.6, fill: "none", stroke: "#3a3128", "stroke-width": 1.3 })]),
  ];
  const mouths = [line("M27 44Q32 48 37 44", "#7a3a30"), line("M28 45H36", "#7a3a30"), line("M27 44Q33 47 38 42", "#7a3a30")];
  return picture("0 0 64 64", "avatar",
    svg("circle", { cx: 32, cy: 32, r: 32, fill: ground }),
    path("M8 64Q10 50 32 50T56 64Z", clothes), svg("rect", { x: 27, y: 44, width: 10, height: 12, rx: 5, fill: skin }),
    svg("ellipse", { cx: 32, cy: 33, rx: 15, ry: 17, fill: skin }), pick(mouths), line("M32 35Q33.5 38 31.5 39", "#0003", 1.4),
    pick(beards), pick(tops), pick(eyes));
}

/** Returns a function that returns whole numbers which follow from `name` alone. */
function drawsOf(name) {
  let state = 0;
  for (const letter of name) state = Math.imul(state ^ letter.codePointAt(0), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
}
