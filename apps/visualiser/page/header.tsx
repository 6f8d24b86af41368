import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { usePage } from './page-context.ts';
import type { Theme } from './page-state.ts';
import type { View } from './route.ts';
import { Text } from './text.tsx';

const TABS: readonly { readonly view: View; readonly name: string; readonly also: readonly View[] }[] = [
  { view: 'system', name: 'System', also: ['graph', 'agent'] },
  { view: 'work', name: 'Work', also: [] },
  { view: 'conversations', name: 'Conversations', also: ['conversation'] },
  { view: 'trouble', name: 'Trouble', also: [] },
  { view: 'time', name: 'Time', also: [] },
];

export function Header(): JSX.Element {
  const { state } = usePage();
  const { look, route } = state;
  const file = useRef<HTMLInputElement>(null);
  const summary = look?.summary;
  return (
    <header class="head">
      <p class="brand">
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <circle cx="16" cy="16" r="13" fill="none" stroke="currentColor" stroke-width="2" />
          <circle cx="16" cy="16" r="5" fill="currentColor" />
          <circle cx="25.5" cy="7" r="3.5" class="moon" />
        </svg>
        Orrery
        {summary === undefined ? null : (
          <span class="quiet">
            <Text of={summary.name} max={40} />
          </span>
        )}
      </p>
      <nav aria-label="Views">
        <ul class="tabs">
          {TABS.map(({ view, name, also }) => (
            <li key={view}>
              <a
                href={state.link({ view })}
                aria-current={route.view === view || also.includes(route.view) ? 'page' : undefined}
              >
                {name}
                {view === 'trouble' && summary !== undefined ? (
                  <Badge bad={summary.bad} warnings={summary.warnings} />
                ) : null}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="tools">
        <button type="button" onClick={() => file.current?.click()}>
          <Icon name="open" /> Open a trace
        </button>
        <input
          ref={file}
          type="file"
          hidden
          data-trace-file
          aria-label="A trace file"
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen !== undefined) void state.openTrace(chosen);
            event.currentTarget.value = '';
          }}
        />
        <label>
          <span class="unseen">Colours</span>
          <select
            value={state.theme}
            onChange={(event) => state.setTheme(event.currentTarget.value as Theme)}
          >
            <option value="auto">Auto</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <button type="button" onClick={() => state.show({ kind: 'help' })}>
          Help
        </button>
      </div>
    </header>
  );
}

function Badge({ bad, warnings }: { readonly bad: number; readonly warnings: number }): JSX.Element | null {
  if (bad + warnings === 0) return null;
  const words = [bad === 0 ? '' : `${bad} wrong`, warnings === 0 ? '' : `${warnings} to look at`];
  return (
    <span class={`badge ${bad > 0 ? 'bad' : 'warning'}`}>
      <Icon name={bad > 0 ? 'bad' : 'warning'} />
      <span aria-hidden="true">{bad > 0 ? bad : warnings}</span>
      <span class="unseen">, {words.filter((one) => one !== '').join(', ')}</span>
    </span>
  );
}
