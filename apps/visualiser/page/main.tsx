import { wrap } from 'comlink';
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import type { Draughtsman } from '../worker/drawing.worker.ts';
import type { Recorder } from '../worker/recorder.ts';
import { App } from './app.tsx';
import { PageContext } from './page-context.ts';
import { PageState, type Theme } from './page-state.ts';
import { takeToken } from './route.ts';

const TOKEN = 'orrery-token';

const recorderWorker = new Worker(new URL('../worker/recorder.worker.ts', import.meta.url), {
  type: 'module',
});
const drawingWorker = new Worker(new URL('../worker/drawing.worker.ts', import.meta.url), { type: 'module' });
const recorder = wrap<Recorder>(recorderWorker);
const draughtsman = wrap<Draughtsman>(drawingWorker);
const state = new PageState(recorder);

/** The token leaves the address at once: whoever looks at the screen, or is given the link, does not have it. */
function keepToken(): void {
  const { token, rest } = takeToken(location.hash);
  if (token === undefined) return;
  sessionStorage.setItem(TOKEN, token);
  history.replaceState(null, '', rest);
  void recorder.connect(token);
}

function arrive(): void {
  keepToken();
  state.arrive(location.hash);
}

function connectWith(token: string): void {
  sessionStorage.setItem(TOKEN, token);
  void recorder.connect(token);
}

state.setTheme((localStorage.getItem('orrery-theme') as Theme | null) ?? 'auto');
if (takeToken(location.hash).token === undefined) void recorder.connect(sessionStorage.getItem(TOKEN) ?? '');
arrive();
addEventListener('hashchange', arrive);

const root = document.getElementById('page');
if (root !== null)
  render(
    <PageContext.Provider value={{ state, draughtsman }}>
      <App onToken={connectWith} />
    </PageContext.Provider>,
    root,
  );
state.run();
