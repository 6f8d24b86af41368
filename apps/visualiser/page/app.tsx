import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AgentView } from './agent-view.tsx';
import { ConversationView } from './conversation-view.tsx';
import { ConversationsView } from './conversations-view.tsx';
import { Dialogs } from './dialogs.tsx';
import { Dropped } from './dropped.tsx';
import { GraphView } from './graph-view.tsx';
import { Header } from './header.tsx';
import { useChanges, usePage } from './page-context.ts';
import { Start } from './start.tsx';
import { StatusBar } from './status-bar.tsx';
import { SystemView } from './system-view.tsx';
import { TimeBar } from './time-bar.tsx';
import { TimeView } from './time-view.tsx';
import { TroubleView } from './trouble-view.tsx';
import { WorkView } from './work-view.tsx';

const VIEW_NAMES = {
  system: 'System',
  graph: 'Who talks to whom',
  agent: 'Agent',
  conversations: 'Conversations',
  conversation: 'Conversation',
  work: 'Work',
  trouble: 'Trouble',
  time: 'Time',
} as const;

export function App({ onToken }: { readonly onToken: (token: string) => void }): JSX.Element {
  const { state } = usePage();
  useChanges(state);
  const { look, route } = state;
  const main = useRef<HTMLElement>(null);
  const place = `${route.view} ${route.id}`;
  const before = useRef(place);
  useEffect(() => {
    const name = route.id === '' ? VIEW_NAMES[route.view] : route.id;
    document.title = `${name.slice(0, 60)} · ${look?.summary.name.slice(0, 60) ?? 'Orrery'} · Orrery`;
    // Whoever follows a link by the keyboard goes on where it leads.
    if (before.current !== place) main.current?.focus({ preventScroll: true });
    before.current = place;
  }, [place, look?.summary.name]);
  const source = look?.source;
  const isEmpty = look === undefined || (source?.kind !== 'trace' && look.clock.length === 0);
  return (
    <Dropped>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header />
      <main id="main" ref={main} tabIndex={-1}>
        {isEmpty ? <Start onToken={onToken} /> : <CurrentView />}
      </main>
      <footer>
        {isEmpty ? null : <TimeBar />}
        <StatusBar />
      </footer>
      <Dialogs onToken={onToken} />
    </Dropped>
  );
}

function CurrentView(): JSX.Element {
  const { route } = usePage().state;
  switch (route.view) {
    case 'system':
      return <SystemView />;
    case 'graph':
      return <GraphView />;
    case 'agent':
      return <AgentView key={route.id} id={route.id} />;
    case 'conversations':
      return <ConversationsView />;
    case 'conversation':
      return <ConversationView key={route.id} id={route.id} />;
    case 'work':
      return <WorkView />;
    case 'trouble':
      return <TroubleView />;
    case 'time':
      return <TimeView />;
  }
}
