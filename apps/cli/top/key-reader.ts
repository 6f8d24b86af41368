/** A key: a name, or the character that it types. */
export type Key =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'ctrl-c'
  | { readonly typed: string };

const ESCAPE = '\x1b';
/** What a terminal sends for a key after `ESCAPE`: whole, and as far as it may have come yet. */
const SEQUENCE = /^(?:\[|O)([0-9;]*[A-Za-z~])/;
const UNFINISHED = /^(?:\[[0-9;]*|O)?$/;

const NAMED: Readonly<Record<string, Key>> = {
  A: 'up',
  B: 'down',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '4~': 'end',
  '5~': 'page-up',
  '6~': 'page-down',
};
const CONTROLS: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'ctrl-c',
};

/** Makes keys of what a terminal sends, wherever that is cut. */
export class KeyReader {
  #rest = '';

  /** Whether a sequence has begun that is not whole: or it was the key Escape alone, which `flush` says. */
  get isUnfinished(): boolean {
    return this.#rest !== '';
  }

  push(text: string): Key[] {
    let left = this.#rest + text;
    this.#rest = '';
    const keys: Key[] = [];
    while (left !== '') {
      const first = String.fromCodePoint(left.codePointAt(0) ?? 0);
      const after = left.slice(first.length);
      if (first === ESCAPE && UNFINISHED.test(after)) {
        this.#rest = left;
        break;
      }
      const [sequence = '', name] = first === ESCAPE ? (SEQUENCE.exec(after) ?? []) : [];
      const key = name === undefined ? keyOf(first) : NAMED[name];
      if (key !== undefined) keys.push(key);
      left = after.slice(sequence.length);
    }
    return keys;
  }

  /** Nothing more came: what was begun was the key Escape, and what was typed after it. */
  flush(): Key[] {
    const left = this.#rest;
    this.#rest = '';
    return left === '' ? [] : ['escape', ...[...left.slice(1)].map((typed) => ({ typed }))];
  }
}

function keyOf(character: string): Key | undefined {
  if (character === ESCAPE) return 'escape';
  if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character];
  return /\p{C}/u.test(character) ? undefined : { typed: character };
}
