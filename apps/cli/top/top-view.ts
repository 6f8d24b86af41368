import { SORTS, type Sort } from '../team-rows.ts';
import type { Key } from './key-reader.ts';

export type Page = 'team' | 'trouble' | 'work' | 'conversations';

/** What is opened: one agent, or one conversation. */
export interface Opened {
  readonly kind: 'agent' | 'conversation';
  readonly id: string;
}

/** A line that can be chosen, and what Enter opens there. */
export interface Item {
  readonly id: string;
  readonly opens: Opened | undefined;
}

/**
 * What whoever watches has chosen to see.
 *
 * - `selectedId` the chosen line; undefined for none yet.
 * - `scroll`     how many lines of what is opened are above the screen.
 * - `isTyping`   the keys go into the filter.
 */
export interface TopView {
  readonly page: Page;
  readonly selectedId: string | undefined;
  readonly opened: Opened | undefined;
  readonly scroll: number;
  readonly sort: Sort;
  readonly filter: string;
  readonly isTyping: boolean;
  readonly isPaused: boolean;
  readonly isHelp: boolean;
}

export const FIRST_VIEW: TopView = {
  page: 'team',
  selectedId: undefined,
  opened: undefined,
  scroll: 0,
  sort: 'place',
  filter: '',
  isTyping: false,
  isPaused: false,
  isHelp: false,
};

const PAGE_LINES = 10;
const LONGEST_FILTER = 40;
const STEPS: ReadonlyMap<Key, number> = new Map<Key, number>([
  ['up', -1],
  ['down', 1],
  ['page-up', -PAGE_LINES],
  ['page-down', PAGE_LINES],
  ['home', Number.NEGATIVE_INFINITY],
  ['end', Number.POSITIVE_INFINITY],
]);
const LETTERS: Readonly<Record<string, Key>> = { j: 'down', k: 'up', g: 'home', G: 'end' };
const PAGES: Readonly<Record<string, Page>> = { t: 'trouble', w: 'work', c: 'conversations', a: 'team' };

/** The view after a key; `quit` ends it. `items` are the lines of the page that can be chosen, in order. */
export function pressed(view: TopView, key: Key, items: readonly Item[]): TopView | 'quit' {
  if (key === 'ctrl-c') return 'quit';
  if (view.isTyping) return typed(view, key);
  if (view.isHelp) return { ...view, isHelp: false };
  const letter = typeof key === 'object' ? key.typed : '';
  if (letter === 'q') return 'quit';
  if (letter === '?') return { ...view, isHelp: true };
  if (letter === 'p') return { ...view, isPaused: !view.isPaused };
  const step = STEPS.get(Object.hasOwn(LETTERS, letter) ? (LETTERS[letter] ?? key) : key);
  if (step !== undefined) return moved(view, step, items);
  if (Object.hasOwn(PAGES, letter)) return turned(view, PAGES[letter] ?? 'team');
  if (key === 'escape' || key === 'backspace') return back(view);
  if (key === 'enter') return opened(view, items);
  if (letter === 's')
    return { ...view, sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length] ?? 'place' };
  if (letter === '/') return { ...view, opened: undefined, filter: '', isTyping: true };
  return view;
}

function typed(view: TopView, key: Key): TopView {
  if (typeof key === 'object')
    return { ...view, filter: `${view.filter}${key.typed}`.slice(0, LONGEST_FILTER) };
  if (key === 'backspace') return { ...view, filter: [...view.filter].slice(0, -1).join('') };
  if (key === 'escape') return { ...view, filter: '', isTyping: false };
  return key === 'enter' ? { ...view, isTyping: false } : view;
}

/** The same key again leads back to the team. */
const turned = (view: TopView, page: Page): TopView => ({
  ...view,
  page: view.page === page && view.opened === undefined ? 'team' : page,
  opened: undefined,
  selectedId: undefined,
  scroll: 0,
});

function back(view: TopView): TopView {
  if (view.opened !== undefined) return { ...view, opened: undefined, scroll: 0 };
  if (view.filter !== '') return { ...view, filter: '' };
  return view.page === 'team' ? view : turned(view, 'team');
}

function opened(view: TopView, items: readonly Item[]): TopView {
  if (view.opened !== undefined) return back(view);
  const { opens } = items.find(({ id }) => id === view.selectedId) ?? items[0] ?? {};
  return opens === undefined ? view : { ...view, opened: opens, scroll: 0 };
}

function moved(view: TopView, step: number, items: readonly Item[]): TopView {
  if (view.opened !== undefined) {
    const scroll =
      step === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : Math.max(0, view.scroll + step);
    return { ...view, scroll };
  }
  const at = items.findIndex(({ id }) => id === view.selectedId);
  const next = at < 0 && Number.isFinite(step) ? 0 : Math.min(items.length - 1, Math.max(0, at + step));
  return { ...view, selectedId: items[next]?.id };
}
