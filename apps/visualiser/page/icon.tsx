import type { JSX } from 'preact';

/** Each state has a shape of its own: nothing is told by colour alone. */
const PATHS: Readonly<Record<string, JSX.Element>> = {
  running: <circle cx="8" cy="8" r="5" fill="currentColor" />,
  idle: <circle cx="8" cy="8" r="4.5" fill="none" stroke="currentColor" stroke-width="2" />,
  busy: <path d="M4 2.5v11l9-5.5z" fill="currentColor" />,
  starting: (
    <circle cx="8" cy="8" r="4.5" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="3 2" />
  ),
  restarting: (
    <path d="M12.6 6A5 5 0 1 0 13 9.5M13 2.5V6.4H9.2" fill="none" stroke="currentColor" stroke-width="2" />
  ),
  failed: <path d="M3.5 3.5l9 9M12.5 3.5l-9 9" stroke="currentColor" stroke-width="2.5" />,
  parked: <path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="3" />,
  stopped: <rect x="4" y="4" width="8" height="8" fill="currentColor" />,
  unknown: <path d="M4 8h8" stroke="currentColor" stroke-width="2.5" />,
  bad: (
    <>
      <path d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z" fill="currentColor" />
      <path d="M5.5 5.5l5 5M10.5 5.5l-5 5" stroke="var(--back)" stroke-width="1.8" />
    </>
  ),
  warning: (
    <>
      <path d="M8 1.5l7 12.5H1z" fill="currentColor" />
      <path d="M8 6v4M8 11.4v1.4" stroke="var(--back)" stroke-width="1.8" />
    </>
  ),
  note: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="M8 7v4.5M8 4.3v1.5" stroke="currentColor" stroke-width="1.8" />
    </>
  ),
  good: <path d="M2.5 8.5l4 4 7-8.5" fill="none" stroke="currentColor" stroke-width="2.5" />,
  waiting: (
    <path
      d="M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
    />
  ),
  flag: <path d="M4 14.5V2h8.5L10 5.5 12.5 9H4" fill="none" stroke="currentColor" stroke-width="1.8" />,
  node: <path d="M2 4.500h12v7H2zM5 14h6" fill="none" stroke="currentColor" stroke-width="1.6" />,
  place: <path d="M3 3h10v10H3zM3 7h10" fill="none" stroke="currentColor" stroke-width="1.5" />,
  play: <path d="M4 2.500v11l9-5.500z" fill="currentColor" />,
  pause: <path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="3" />,
  next: <path d="M3 3l7 5-7 5zM12 3v10" fill="currentColor" stroke="currentColor" stroke-width="1.5" />,
  previous: <path d="M13 3L6 8l7 5zM4 3v10" fill="currentColor" stroke="currentColor" stroke-width="1.5" />,
  open: <path d="M2 13V3.500h4.500L8 5.500h6V13z" fill="none" stroke="currentColor" stroke-width="1.6" />,
};

/** A small picture; it says nothing that does not stand beside it in words. */
export function Icon({ name, level = '' }: { readonly name: string; readonly level?: string }): JSX.Element {
  return (
    <svg
      class={`icon ${level}`.trim()}
      viewBox="0 0 16 16"
      width="14"
      height="14"
      aria-hidden="true"
      focusable="false"
    >
      {Object.hasOwn(PATHS, name) ? PATHS[name] : PATHS['unknown']}
    </svg>
  );
}

/** How an agent is, in a picture, a colour and a word. */
export function Status({
  status,
  isBusy,
}: {
  readonly status: string;
  readonly isBusy: boolean;
}): JSX.Element {
  const shown = status === 'running' ? (isBusy ? 'busy' : 'idle') : status;
  return (
    <span class={`status ${shown}`} title={STATUS_TITLES.get(shown) ?? ''}>
      <Icon name={shown} />
      {shown === 'failed' ? 'gave up' : shown}
    </span>
  );
}

const STATUS_TITLES: ReadonlyMap<string, string> = new Map([
  ['busy', 'It runs, and works at an envelope'],
  ['idle', 'It runs, and waits for mail'],
  ['starting', 'It is being started'],
  ['restarting', 'Its actor died, and is started again by its supervisor'],
  ['failed', 'It died too often, so its supervisor gave up'],
  ['parked', 'It has a state that its code cannot go on with, and waits for other code'],
  ['stopped', 'It was stopped'],
]);
