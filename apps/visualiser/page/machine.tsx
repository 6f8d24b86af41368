import type { MachineDrawing } from 'orrery/machines';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { durationText, sinceStart } from '../model/durations.ts';
import { drawingOfSteps } from '../model/drawing-of-steps.ts';
import type { SvgNode } from '../model/svg.ts';
import type { Fact } from '../model/watched-event.ts';
import type { MachineLook } from '../worker/look.ts';
import { Drawn } from './drawn.tsx';
import { usePage } from './page-context.ts';
import { saveFile } from './save-file.ts';
import { Term, Text } from './text.tsx';

/** A state machine of an agent: its statechart, with the state it is in, and what it did last. */
export function Machine({
  machine,
  isOpen,
}: {
  readonly machine: MachineLook;
  readonly isOpen: boolean;
}): JSX.Element {
  const [open, setOpen] = useState(isOpen);
  const { state } = usePage();
  const nowMs = state.look?.clock.atMs ?? 0;
  return (
    <details class="machine" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>
          <Text of={machine.machine} max={50} />
        </strong>{' '}
        {machine.actorId === machine.agentId ? null : (
          <span class="quiet">
            <Text of={machine.actorId} max={40} />{' '}
          </span>
        )}
        is{' '}
        <mark>
          ● <Text of={machine.state} max={120} />
        </mark>
        <span class="quiet">
          {' '}
          {machine.isOver ? 'and over, ' : ''}for {durationText(nowMs - machine.sinceMs)}
          {machine.nextTimer === undefined ? '' : ' · '}
          {machine.nextTimer === undefined ? null : (
            <>
              <Text of={machine.nextTimer.event} max={40} /> {timerText(machine.nextTimer.atMs - nowMs)}
            </>
          )}
        </span>
      </summary>
      {open ? <MachineBody machine={machine} /> : null}
    </details>
  );
}

const timerText = (leftMs: number): string =>
  leftMs >= 0 ? `in ${durationText(leftMs)}` : `is due since ${durationText(-leftMs)}`;

export function MachineBody({ machine }: { readonly machine: MachineLook }): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  return (
    <div class="machine-body">
      <Statechart machine={machine} />
      <div class="machine-facts">
        {machine.facts.length === 0 ? null : (
          <dl>
            {machine.facts.map(([name, value]) => (
              <div key={name}>
                <dt>
                  <Text of={name} max={40} />
                </dt>
                <dd>
                  <Text of={factText(name, value, startedAtMs)} max={160} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        <h3>Last transitions</h3>
        {machine.steps.length === 0 ? (
          <p class="quiet">None are known.</p>
        ) : (
          <ol class="lines steps">
            {[...machine.steps]
              .reverse()
              .slice(0, 10)
              .map(({ atMs, event, from, to }, at) => (
                <li key={`${atMs} ${at}`}>
                  <span class="number quiet">{sinceStart(atMs, startedAtMs)}</span>{' '}
                  <Text of={event} max={50} />{' '}
                  <span class="quiet">
                    <Text of={from === '' ? 'nothing' : from} max={40} /> →
                  </span>{' '}
                  <Text of={to} max={40} />
                </li>
              ))}
          </ol>
        )}
        {machine.guards.length === 0 ? null : (
          <>
            <h3>
              <Term word="guard">Guards</Term> that did not hold
            </h3>
            <ol class="lines steps">
              {[...machine.guards].reverse().map(({ atMs, event, guards }, at) => (
                <li key={`${atMs} ${at}`}>
                  <span class="number quiet">{sinceStart(atMs, startedAtMs)}</span>{' '}
                  <Text of={event} max={50} />: <Text of={guards.join(', ')} max={120} />
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </div>
  );
}

function Statechart({ machine }: { readonly machine: MachineLook }): JSX.Element {
  const { state, draughtsman } = usePage();
  const [known, setKnown] = useState<MachineDrawing | null>();
  const [chart, setChart] = useState<SvgNode>();
  const name = machine.machine;
  const { agentId } = machine;
  const trace = state.look?.source.trace?.name;
  useEffect(() => {
    void state.recorder.drawing(name, agentId).then((found) => setKnown(found ?? null));
  }, [name, agentId, trace]);
  const seen = machine.steps.map(({ from, to, event }) => `${from} ${to} ${event}`).join();
  const drawing = useMemo(
    () => (known === null ? drawingOfSteps(machine.machine, machine.steps) : known),
    [known, known === null ? seen : ''],
  );
  useEffect(() => {
    if (drawing === undefined) return;
    let isWanted = true;
    void draughtsman.statechart(drawing, machine.state).then((drawn) => {
      if (isWanted) setChart(drawn);
    });
    return () => {
      isWanted = false;
    };
  }, [drawing, machine.state]);
  const [isWhole, setIsWhole] = useState(false);
  const box = useRef<HTMLElement>(null);
  useEffect(() => showActive(box.current), [chart, isWhole]);
  if (chart === undefined || drawing === undefined) return <p class="quiet chart-box">Drawing…</p>;
  const save = async (as: 'svg' | 'mermaid'): Promise<void> => {
    const text = await draughtsman.statechartFile(drawing, machine.state, as);
    saveFile(text, {
      name: `${drawing.id}.${as === 'svg' ? 'svg' : 'mmd'}`,
      type: as === 'svg' ? 'image/svg+xml' : 'text/plain',
    });
  };
  return (
    <div class="chart-box">
      {known === null ? (
        <p class="quiet">Drawn of what it did so far; how it is made is not in this recording.</p>
      ) : null}
      <section
        ref={box}
        class={isWhole ? 'canvas whole' : 'canvas'}
        tabIndex={0}
        aria-label={`Statechart ${drawing.id}`}
      >
        <Drawn drawing={chart} />
      </section>
      <p class="line quiet">
        <button type="button" aria-pressed={isWhole} onClick={() => setIsWhole(!isWhole)}>
          Whole machine
        </button>
        <span class="push">Save as</span>
        <button type="button" onClick={() => void save('svg')}>
          SVG
        </button>
        <button type="button" onClick={() => void save('mermaid')}>
          Mermaid
        </button>
      </p>
    </div>
  );
}

/** A fact that is a moment stands there as the time since the start. */
const factText = (name: string, value: Fact, startedAtMs: number): string =>
  typeof value === 'number' && /(At|Until)Ms$/.test(name) ? sinceStart(value, startedAtMs) : String(value);

/** Brings the state that the machine is in to where it is seen. */
function showActive(box: HTMLElement | null): void {
  const active = box?.querySelector('.active')?.getBoundingClientRect();
  if (box === null || active === undefined) return;
  const seen = box.getBoundingClientRect();
  box.scrollLeft += active.left + active.width / 2 - (seen.left + seen.width / 2);
  box.scrollTop += active.top + active.height / 2 - (seen.top + seen.height / 2);
}
