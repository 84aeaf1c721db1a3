// Short sounds, made and not loaded. They are off until somebody switches them on.

import { storage } from "../storage.js";

const SOUNDS = {
  card: { noise: 0.06, filter: 2400, gain: 0.25 },
  deal: { noise: 0.04, filter: 3200, gain: 0.15 },
  chip: { tones: [2100, 2750], length: 0.07, gain: 0.06 },
  turn: { tones: [660, 880], length: 0.16, gain: 0.08 },
  win: { tones: [523, 659, 784, 1047], length: 0.2, gain: 0.09 },
};

class Sounds {
  constructor() {
    this.context = null;
    this.on = storage.get("sound") === "on";
  }

  set(on) {
    this.on = on;
    storage.set("sound", on ? "on" : "off");
    this.play("turn");
  }

  /** Plays a sound, if sounds are on and the browser allows it: only after a click on the page. */
  play(name) {
    if (!this.on || document.hidden || !navigator.userActivation?.hasBeenActive) return;
    this.context ??= new AudioContext();
    const { noise, tones, filter, length, gain } = SOUNDS[name];
    if (noise) this.rustle(noise, filter, gain);
    else tones.forEach((tone, number) => this.ring(tone, number * length * 0.6, length, gain));
  }

  envelope(gain, from, length) {
    const level = this.context.createGain();
    level.gain.setValueAtTime(gain, from);
    level.gain.exponentialRampToValueAtTime(0.0001, from + length);
    level.connect(this.context.destination);
    return level;
  }

  ring(frequency, after, length, gain) {
    const from = this.context.currentTime + after;
    const tone = new OscillatorNode(this.context, { frequency, type: "triangle" });
    tone.connect(this.envelope(gain, from, length));
    tone.start(from);
    tone.stop(from + length);
  }

  rustle(length, frequency, gain) {
    const { context } = this;
    const buffer = context.createBuffer(1, Math.ceil(length * context.sampleRate), context.sampleRate);
    const samples = buffer.getChannelData(0);
    for (let k = 0; k < samples.length; k += 1) samples[k] = Math.sin(k * k * 12.9898) * (1 - k / samples.length);
    const source = new AudioBufferSourceNode(context, { buffer });
    const filter = new BiquadFilterNode(context, { type: "bandpass", frequency });
    source.connect(filter).connect(this.envelope(gain, context.currentTime, length));
    source.start();
  }
}

export const sounds = new Sounds();
