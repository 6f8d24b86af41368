/**
 * The accounts of a system as words in memory that all its threads share, and the steps by which they change: each is one
 * compare-and-swap. A thread may end between two of them; what it leaves so is told by `closing` and `miscounted`.
 *
 * An account has a slot. The *generation* of the slot stands in every word of the account: a late change finds another
 * generation, and does nothing.
 */

const HEADER = 2;
const WORDS = 10;
/** In the header: which process it is, among all that have had the same journal. */
const RUN = 1;
const SLOT_BITS = 2 ** 16;
const LAST_GENERATION = 2 ** 16 - 1;

/** What stands where. All but life, flux and name are a number of 48 bits below the generation. */
export const WORD = {
  /** Generation, incarnation of the thread that opened it, and its state. */
  life: 0,
  /** The account above it; 0 without one. */
  above: 1,
  tokens: 2,
  micros: 3,
  /** What was spent in all, of an account with none above it. */
  spentTokens: 4,
  spentMicros: 5,
  /** Two numbers of 32 bits: steps under way that may be taken back, and how many were. */
  flux: 6,
  /** The name by which a journal knows the account, in this process and in later ones. */
  name: 7,
  /** What it was opened with. */
  grantedTokens: 8,
  grantedMicros: 9,
} as const;

/** A word that holds a number. */
export type NumberWord = (typeof WORD)[Exclude<keyof typeof WORD, 'life' | 'flux' | 'name'>];

/** The account has no amount of its own here. */
export const NOTHING = 2 ** 48 - 1;

const NUMBER_BITS = 48n;
const NUMBER = (1n << NUMBER_BITS) - 1n;
const INCARNATION_BITS = 32n;
const STATE = (1n << INCARNATION_BITS) - 1n;

/** States of a slot: free, or being closed. Others say whether the opener holds it, and how many accounts are below it. */
const FREE = 0;
const CLOSING = 2 ** 32 - 1;
const HELD = 1;
const ONE_BELOW = 2;

/** Names of accounts are numbered within one process below this. */
const ACCOUNTS = 2 ** 32;

/** Accounts that can be open at once. */
const CAPACITY = 2 ** 16;
/** Slots are tried in turn. The count begins anew here, and not at 0: by then all slots have been used. */
const LAST_TURN = 2 ** 30;
/** Reads of a step that may be taken back, before its thread is thought to have ended. */
const FLUX_READS = 1_000;

/** An account that counts `excess` more below it than there are, and its word of life when that was seen. */
export interface Miscount {
  readonly account: number;
  readonly life: bigint;
  readonly excess: number;
}

export const newAccountMemory = (capacity: number = CAPACITY): SharedArrayBuffer =>
  new SharedArrayBuffer((HEADER + capacity * WORDS) * 8);

export class AccountMemory {
  readonly capacity: number;
  readonly #words: BigUint64Array;
  readonly #halves: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigUint64Array(memory);
    this.#halves = new Int32Array(memory);
    this.capacity = (this.#words.length - HEADER) / WORDS;
  }

  /** A new account of a thread, with nothing in it; undefined when all slots are taken. */
  allocate(incarnation: number): number | undefined {
    // The last slot that became free, as its number plus one; then one after the other.
    const freed = Atomics.exchange(this.#halves, 1, 0) - 1;
    const account = freed < 0 ? undefined : this.#seize(freed, incarnation);
    if (account !== undefined) return account;
    for (let tries = 0; tries < this.capacity; tries++) {
      const turn = Atomics.add(this.#halves, 0, 1);
      if (turn >= LAST_TURN) Atomics.compareExchange(this.#halves, 0, turn + 1, this.capacity);
      const seized = this.#seize(turn % this.capacity, incarnation);
      if (seized !== undefined) return seized;
    }
    return undefined;
  }

  #seize(slot: number, incarnation: number): number | undefined {
    const at = baseOf(slot) + WORD.life;
    const before = Atomics.load(this.#words, at);
    if (stateIn(before) !== FREE) return undefined;
    const generation = (generationIn(before) % LAST_GENERATION) + 1;
    const life = packed(generation, (BigInt(incarnation & 0xffff) << INCARNATION_BITS) | BigInt(HELD));
    if (Atomics.compareExchange(this.#words, at, before, life) !== before) return undefined;
    const account = slot + generation * SLOT_BITS;
    Atomics.store(this.#halves, (baseOf(slot) + WORD.flux) * 2, 0);
    this.write(account, WORD.above, 0);
    this.write(account, WORD.tokens, NOTHING);
    this.write(account, WORD.micros, NOTHING);
    this.write(account, WORD.spentTokens, 0);
    this.write(account, WORD.spentMicros, 0);
    this.write(account, WORD.grantedTokens, NOTHING);
    this.write(account, WORD.grantedMicros, NOTHING);
    this.rename(account, this.run * ACCOUNTS + account);
    return account;
  }

  /** Which process this is, among all that have had the same journal; 0 without one. */
  get run(): number {
    return Number(Atomics.load(this.#words, RUN));
  }

  set run(run: number) {
    Atomics.store(this.#words, RUN, BigInt(run));
  }

  /** By which a journal knows an account that is open; no other one of any process has it. */
  name(account: number): number {
    return Number(Atomics.load(this.#words, baseOf(slotOf(account)) + WORD.name));
  }

  /** Gives an account the name that it had in a former process. */
  rename(account: number, name: number): void {
    Atomics.store(this.#words, baseOf(slotOf(account)) + WORD.name, BigInt(name));
  }

  /** What it was opened with in a former process; null: nothing of its own. */
  grant(
    account: number,
    { tokens, micros }: { readonly tokens: number | null; readonly micros: number | null },
  ): void {
    this.write(account, WORD.grantedTokens, tokens ?? NOTHING);
    this.write(account, WORD.grantedMicros, micros ?? NOTHING);
  }

  /** Holds an account again that its opener has let go of; false when it is over. */
  hold(account: number): boolean {
    return this.#change(account, (state) => (state % ONE_BELOW === HELD ? 0 : HELD)) !== undefined;
  }

  /** Whoever opened it holds it. */
  isHeld(account: number): boolean {
    const state = this.#state(account);
    return state !== undefined && state % ONE_BELOW === HELD;
  }

  isOpen(account: number): boolean {
    return this.#state(account) !== undefined;
  }

  /** Notes that an account is opened below it; false when it is over. */
  addBelow(account: number): boolean {
    return this.#change(account, () => ONE_BELOW) !== undefined;
  }

  /** One below it is closed. True when nothing holds it any more: the caller closes it. */
  dropBelow(account: number): boolean {
    return this.#change(account, (state) => (state >= ONE_BELOW ? -ONE_BELOW : 0)) === CLOSING;
  }

  /** Its opener lets go of it, however often. True when nothing holds it any more: the caller closes it. */
  letGo(account: number): boolean {
    return this.#change(account, (state) => (state % ONE_BELOW === HELD ? -HELD : 0)) === CLOSING;
  }

  /** The slot of an account that is being closed can be taken again; false when another thread has said so already. */
  free(account: number): boolean {
    const slot = slotOf(account);
    const at = baseOf(slot) + WORD.life;
    const before = Atomics.load(this.#words, at);
    if (generationIn(before) !== generationOf(account) || stateIn(before) !== CLOSING) return false;
    if (Atomics.compareExchange(this.#words, at, before, before & ~STATE) !== before) return false;
    Atomics.store(this.#halves, 1, slot + 1);
    return true;
  }

  /** The number in a word; undefined when the account's turn is over. */
  read(account: number, word: NumberWord): number | undefined {
    const value = Atomics.load(this.#words, baseOf(slotOf(account)) + word);
    return generationIn(value) === generationOf(account) ? Number(value & NUMBER) : undefined;
  }

  write(account: number, word: NumberWord, value: number): void {
    const tagged = packed(generationOf(account), BigInt(value));
    Atomics.store(this.#words, baseOf(slotOf(account)) + word, tagged);
  }

  /** Adds to a number, which may be negative, if it can be and does not fall below 0. */
  add(account: number, word: NumberWord, value: number): boolean {
    for (;;) {
      const before = this.read(account, word);
      if (before === undefined || before === NOTHING || before + value < 0) return false;
      if (this.#swap(account, word, before, before + value)) return true;
    }
  }

  /** Takes out whatever is there. */
  empty(account: number, word: NumberWord): number {
    for (;;) {
      const before = this.read(account, word);
      if (before === undefined || before === NOTHING) return 0;
      if (this.#swap(account, word, before, 0)) return before;
    }
  }

  /** Says for certain whether less than `value` is there: what another one may yet put back is waited for. */
  isShort(account: number, word: NumberWord, value: number): boolean {
    const flux = (baseOf(slotOf(account)) + WORD.flux) * 2;
    for (let reads = 0; reads < FLUX_READS; reads++) {
      const takenBack = Atomics.load(this.#halves, flux + 1);
      if ((this.read(account, word) ?? 0) >= value) return false;
      const isSettled = Atomics.load(this.#halves, flux) <= 0;
      if (isSettled && Atomics.load(this.#halves, flux + 1) === takenBack) return true;
    }
    return true;
  }

  /** Begins or ends a step that may be taken back, or notes that one was. */
  flux(account: number, step: 'begin' | 'end' | 'taken back'): void {
    const at = (baseOf(slotOf(account)) + WORD.flux) * 2;
    if (step === 'taken back') Atomics.add(this.#halves, at + 1, 1);
    else Atomics.add(this.#halves, at, step === 'begin' ? 1 : -1);
  }

  /** The accounts that the thread of `incarnation` opened and holds. */
  *heldBy(incarnation: number): Iterable<number> {
    for (const { account, life } of this.#used()) {
      if (
        incarnationIn(life) === (incarnation & 0xffff) &&
        stateIn(life) !== CLOSING &&
        stateIn(life) % ONE_BELOW === HELD
      )
        yield account;
    }
  }

  /** The accounts that a thread is closing. */
  *closing(): Iterable<number> {
    for (const { account, life } of this.#used()) if (stateIn(life) === CLOSING) yield account;
  }

  /** The accounts that count more below them than there are. For a moment that may be so of any. */
  miscounted(): Miscount[] {
    const below = new Map<number, number>();
    for (const { account } of this.#used()) {
      const above = this.read(account, WORD.above) ?? 0;
      if (above > 0) below.set(above, (below.get(above) ?? 0) + 1);
    }
    const miscounts: Miscount[] = [];
    for (const { account, life } of this.#used()) {
      const state = stateIn(life);
      const excess = state === CLOSING ? 0 : Math.floor(state / ONE_BELOW) - (below.get(account) ?? 0);
      if (excess > 0) miscounts.push({ account, life, excess });
    }
    return miscounts;
  }

  /** Corrects a count, if nothing has changed it meanwhile. True when nothing holds the account: the caller closes it. */
  correct({ account, life, excess }: Miscount): boolean {
    return this.#change(account, (_state, now) => (now === life ? -excess * ONE_BELOW : 0)) === CLOSING;
  }

  /** How many slots are taken. */
  get size(): number {
    let size = 0;
    for (const _account of this.#used()) size += 1;
    return size;
  }

  *#used(): Iterable<{ readonly account: number; readonly life: bigint }> {
    const end = Math.min(Atomics.load(this.#halves, 0), this.capacity);
    for (let slot = 0; slot < end; slot++) {
      const life = Atomics.load(this.#words, baseOf(slot) + WORD.life);
      if (stateIn(life) !== FREE) yield { account: slot + generationIn(life) * SLOT_BITS, life };
    }
  }

  #state(account: number): number | undefined {
    const life = Atomics.load(this.#words, baseOf(slotOf(account)) + WORD.life);
    if (generationIn(life) !== generationOf(account)) return undefined;
    const state = stateIn(life);
    return state === FREE || state === CLOSING ? undefined : state;
  }

  /** Changes the state by what `by` says; undefined when the account is over. Nothing left of it means CLOSING. */
  #change(account: number, by: (state: number, life: bigint) => number): number | undefined {
    const at = baseOf(slotOf(account)) + WORD.life;
    for (;;) {
      const before = Atomics.load(this.#words, at);
      const state = stateIn(before);
      if (generationIn(before) !== generationOf(account) || state === FREE || state === CLOSING)
        return undefined;
      const change = by(state, before);
      if (change === 0) return state;
      const after = state + change === FREE ? CLOSING : state + change;
      const life = (before & ~STATE) | BigInt(after);
      if (Atomics.compareExchange(this.#words, at, before, life) === before) return after;
    }
  }

  #swap(account: number, word: NumberWord, before: number, after: number): boolean {
    const generation = generationOf(account);
    const expected = packed(generation, BigInt(before));
    const at = baseOf(slotOf(account)) + word;
    return Atomics.compareExchange(this.#words, at, expected, packed(generation, BigInt(after))) === expected;
  }
}

const slotOf = (account: number): number => account % SLOT_BITS;
const generationOf = (account: number): number => Math.floor(account / SLOT_BITS);
const baseOf = (slot: number): number => HEADER + slot * WORDS;

const packed = (generation: number, rest: bigint): bigint => (BigInt(generation) << NUMBER_BITS) | rest;
const generationIn = (word: bigint): number => Number(word >> NUMBER_BITS);
const incarnationIn = (life: bigint): number => Number((life >> INCARNATION_BITS) & 0xffffn);
const stateIn = (life: bigint): number => Number(life & STATE);
