import type { Remote } from 'comlink';
import type { Look, Moment, Query } from '../worker/look.ts';
import type { Recorder } from '../worker/recorder.ts';
import { type Route, readRoute, writeRoute } from './route.ts';

/** How often a page looks while it is seen, and while it is not. */
const LOOK_MS = 100;
const HIDDEN_LOOK_MS = 2_000;
const LONGEST_LOOK_MS = 1_000;
/** For each moment of drawing, so many pass before the next look. */
const IDLE_SHARE = 8;
/** How often the address follows a moment that moves. */
const ADDRESS_MS = 500;

export type Theme = 'auto' | 'light' | 'dark';

/** What was put in front of the page. */
export type Dialog =
  | { readonly kind: 'token' }
  | { readonly kind: 'unlock'; readonly letterId: string; readonly about: string }
  | { readonly kind: 'help' };

/** A run of a recording that is played: where it began, and how fast it goes. */
interface Play {
  readonly fromMs: number;
  readonly beganAt: number;
  readonly speed: number;
}

/**
 * What the page is at: where in it one is, which moment is looked at, and the last look. Components are drawn anew when it
 * changes; it asks the recorder at most ten times a second.
 */
export class PageState {
  readonly recorder: Remote<Recorder>;
  route: Route = readRoute('');
  look: Look | undefined;
  moment: Moment = { kind: 'follow' };
  speed = 1;
  dialog: Dialog | undefined;
  theme: Theme = 'auto';
  unlockToken: string | undefined;
  notice: string | undefined;
  #query: Query = { view: 'system', window: { first: 0, count: 60 }, text: '', only: 'all' };
  #play: Play | undefined;
  readonly #listeners = new Set<() => void>();
  #isLooking = false;
  #isStale = false;
  #lastAddress = 0;
  #knownKey = '';
  #lookMs = LOOK_MS;

  constructor(recorder: Remote<Recorder>) {
    this.recorder = recorder;
  }

  get isPlaying(): boolean {
    return this.#play !== undefined;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Looks again and again, as often as the page is seen. */
  run(): void {
    const next = (): void => {
      void this.#lookOnce().finally(() => setTimeout(next, document.hidden ? HIDDEN_LOOK_MS : this.#lookMs));
    };
    next();
  }

  ask(query: Query): void {
    if (JSON.stringify(query) === JSON.stringify(this.#query)) return;
    this.#query = query;
    void this.#lookOnce();
  }

  /** Takes over where the address leads. */
  arrive(fragment: string): void {
    this.route = readRoute(fragment);
    if (this.route.at !== undefined) {
      this.#play = undefined;
      this.moment = { kind: 'position', position: this.route.at };
    } else if (!this.isPlaying) this.moment = { kind: 'follow' };
    this.change();
    void this.#lookOnce();
  }

  go(route: Partial<Route> & { readonly view: Route['view'] }): void {
    location.hash = this.link(route);
  }

  /** The address of another place, at the same moment. */
  link(route: Partial<Route> & { readonly view: Route['view'] }): string {
    return writeRoute({ ...this.#heldAt(), ...route });
  }

  /** Changes a filter of this very place, which is no step back. */
  refine(change: Partial<Route>): void {
    this.route = { ...this.route, ...change };
    history.replaceState(null, '', writeRoute(this.route));
    this.change();
  }

  follow(): void {
    this.#play = undefined;
    this.moment = { kind: 'follow' };
    this.refine({ at: undefined });
    void this.#lookOnce();
  }

  holdAt(position: number): void {
    this.#play = undefined;
    this.moment = { kind: 'position', position };
    this.refine({ at: position });
    void this.#lookOnce();
  }

  async step(by: 1 | -1): Promise<void> {
    const { clock } = this.look ?? {};
    if (clock === undefined) return;
    this.holdAt(await this.recorder.step(clock.position, by));
  }

  /** Plays on from where one is; from the beginning if that is the end. */
  play(): void {
    const { clock } = this.look ?? {};
    if (clock === undefined) return;
    const isAtEnd = clock.position >= clock.length;
    this.#play = {
      fromMs: isAtEnd ? clock.firstMs : clock.atMs,
      beganAt: performance.now(),
      speed: this.speed,
    };
    this.change();
    void this.#lookOnce();
  }

  pause(): void {
    this.#play = undefined;
    const { clock } = this.look ?? {};
    if (clock !== undefined) this.holdAt(clock.position);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    if (this.isPlaying) this.play();
    this.change();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    localStorage.setItem('orrery-theme', theme);
    this.change();
  }

  show(dialog: Dialog | undefined): void {
    this.dialog = dialog;
    this.change();
  }

  say(notice: string | undefined): void {
    this.notice = notice;
    this.change();
  }

  async openTrace(file: File): Promise<void> {
    this.#play = undefined;
    this.moment = { kind: 'follow' };
    this.refine({ at: undefined });
    await this.recorder.openTrace(file, file.name);
    void this.#lookOnce();
  }

  async backToLive(): Promise<void> {
    await this.recorder.backToLive();
    this.follow();
  }

  #heldAt(): { readonly at?: number } {
    const { clock } = this.look ?? {};
    return this.moment.kind === 'follow' || clock === undefined ? {} : { at: clock.position };
  }

  #momentNow(): Moment {
    const play = this.#play;
    if (play === undefined) return this.moment;
    const atMs = play.fromMs + (performance.now() - play.beganAt) * play.speed;
    const { clock } = this.look ?? {};
    if (clock !== undefined && atMs >= clock.lastMs) {
      this.#play = undefined;
      this.moment = { kind: 'position', position: clock.length };
      return this.moment;
    }
    this.moment = { kind: 'time', atMs };
    return this.moment;
  }

  async #lookOnce(): Promise<void> {
    if (this.#isLooking) {
      this.#isStale = true;
      return;
    }
    this.#isLooking = true;
    try {
      do {
        this.#isStale = false;
        const answer = await this.recorder.lookIfChanged(this.#query, this.#momentNow(), this.#knownKey);
        if (answer !== undefined) {
          this.#knownKey = answer.key;
          this.look = answer.look;
          this.#keepAddress();
          await this.#draw();
        }
      } while (this.#isStale);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Draws, and looks more seldom if that takes long: most of the time is left to whoever uses the page. */
  async #draw(): Promise<void> {
    const began = performance.now();
    this.change();
    // Components are drawn before the next task begins.
    await new Promise((resolve) => setTimeout(resolve));
    const tookMs = performance.now() - began;
    this.#lookMs = Math.min(LONGEST_LOOK_MS, Math.max(LOOK_MS, tookMs * IDLE_SHARE));
  }

  /** While it is played, the address says where one is, now and then. */
  #keepAddress(): void {
    const { clock } = this.look ?? {};
    if (this.moment.kind !== 'time' || clock === undefined) return;
    if (performance.now() - this.#lastAddress < ADDRESS_MS) return;
    this.#lastAddress = performance.now();
    this.route = { ...this.route, at: clock.position };
    history.replaceState(null, '', writeRoute(this.route));
  }
}
