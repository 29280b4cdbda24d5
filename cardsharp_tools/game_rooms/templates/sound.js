// Short quiet sounds of a table; a browser allows them once the player has pressed something.

const NOTES = {
  card: [[210, 0, 0.05]],
  turn: [
    [523, 0, 0.09],
    [784, 0.1, 0.14],
  ],
}; // hertz, start, seconds
const VOLUME = 0.04;
let audio = null;

export function play(name) {
  if (document.documentElement.dataset.sound !== "on" || document.visibilityState !== "visible")
    return;
  if (!navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  for (const [pitch, start, length] of NOTES[name]) {
    const at = audio.currentTime + start;
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.type = "triangle";
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(VOLUME, at);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}
