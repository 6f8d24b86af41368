import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { shownText } from '../model/shown-text.ts';
import type { GraphLayout } from '../model/layout-graph.ts';
import type { GraphLook } from '../worker/look.ts';
import { useBody, usePage } from './page-context.ts';
import { Summary } from './summary.tsx';
import { AgentLink, Text } from './text.tsx';

const WIDTH = 132;
const HEIGHT = 34;

/** Who sends to whom: laid out in a worker, and anew only when there is another agent or line. */
export function GraphView(): JSX.Element {
  const { state, draughtsman } = usePage();
  const body = useBody({ view: 'graph' });
  const [layout, setLayout] = useState<{ readonly key: string; readonly graph: GraphLayout }>();
  const lines = useMemo(() => linesOf(body), [body]);
  const key = JSON.stringify([body?.nodes.map(({ id }) => id), lines.map(({ from, to }) => [from, to])]);
  useEffect(() => {
    if (body === undefined) return;
    let isWanted = true;
    const boxes = body.nodes.map(({ id }) => ({ id, width: WIDTH, height: HEIGHT }));
    void draughtsman
      .graph(
        boxes,
        lines.map(({ from, to }) => ({ from, to })),
      )
      .then((graph) => {
        if (isWanted) setLayout({ key, graph });
      });
    return () => {
      isWanted = false;
    };
  }, [key]);
  return (
    <div class="view">
      <Summary />
      <div class="bar">
        <h2>Who talks to whom</h2>
        <a href={state.link({ view: 'system' })}>Agents by thread</a>
        <span class="push quiet">
          A thicker line carried more; a dotted one was refused at times; a long-dashed one is in use now.
        </span>
      </div>
      {body === undefined || body.nodes.length === 0 ? (
        <p class="empty">Nobody has sent anything yet.</p>
      ) : (
        <>
          {body.leftOut > 0 ? (
            <p class="quiet">
              The {body.nodes.length} with the most traffic; {body.leftOut} others are left out.
            </p>
          ) : null}
          {layout === undefined ? (
            <p class="quiet">Drawing…</p>
          ) : (
            <Net body={body} graph={layout.key === key ? layout.graph : layout.graph} lines={lines} />
          )}
          <EdgeTable body={body} />
        </>
      )}
    </div>
  );
}

interface NetLine {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly refused: number;
  readonly isRecent: boolean;
}

/** Both directions between two are one line. */
function linesOf(body: GraphLook | undefined): readonly NetLine[] {
  const lines = new Map<string, NetLine>();
  for (const edge of body?.edges ?? []) {
    const back = JSON.stringify([edge.to, edge.from]);
    const key = lines.has(back) ? back : JSON.stringify([edge.from, edge.to]);
    const known = lines.get(key);
    lines.set(
      key,
      known === undefined
        ? edge
        : {
            ...known,
            count: known.count + edge.count,
            refused: known.refused + edge.refused,
            isRecent: known.isRecent || edge.isRecent,
          },
    );
  }
  return [...lines.values()];
}

function Net({
  body,
  graph,
  lines,
}: {
  readonly body: GraphLook;
  readonly graph: GraphLayout;
  readonly lines: readonly NetLine[];
}): JSX.Element {
  const { state } = usePage();
  const most = Math.max(1, ...lines.map(({ count }) => count));
  return (
    <section class="canvas" tabIndex={0} aria-label="Drawing of who talks to whom">
      <svg
        viewBox={`0 0 ${graph.width} ${graph.height}`}
        width={graph.width}
        height={graph.height}
        class="net"
      >
        <title>Who talks to whom</title>
        {lines.map(({ from, to, count, refused, isRecent }, at) => {
          const points = graph.lines[at]?.points ?? [];
          if (points.length === 0) return null;
          const width = 1 + 4 * (Math.log1p(count) / Math.log1p(most));
          return (
            <path
              key={`${from} ${to}`}
              d={`M${points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' L')}`}
              class={`edge ${isRecent ? 'recent' : ''} ${refused > 0 ? 'refused' : ''}`}
              stroke-width={width.toFixed(1)}
            />
          );
        })}
        {body.nodes.map(({ id, name, status, isBusy, isSystem }) => {
          const at = graph.boxes.get(id);
          if (at === undefined) return null;
          const word = isSystem ? 'the runtime' : status === 'running' ? (isBusy ? 'busy' : 'idle') : status;
          return (
            <a key={id} href={state.link({ view: 'agent', id })}>
              <g
                transform={`translate(${(at.x - WIDTH / 2).toFixed(1)} ${(at.y - HEIGHT / 2).toFixed(1)})`}
                class={`net-node ${isSystem ? 'system' : word}`}
              >
                <rect width={WIDTH} height={HEIGHT} rx="8" />
                <text x={WIDTH / 2} y="15" text-anchor="middle">
                  {shownText(name, 17)}
                </text>
                <text x={WIDTH / 2} y="28" text-anchor="middle" class="quiet small">
                  {word}
                </text>
              </g>
            </a>
          );
        })}
      </svg>
    </section>
  );
}

/** The same in words. */
function EdgeTable({ body }: { readonly body: GraphLook }): JSX.Element {
  const edges = [...body.edges].sort((one, other) => other.count - one.count).slice(0, 100);
  return (
    <details class="more">
      <summary>The same as a table</summary>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Sent</th>
            <th scope="col">Refused</th>
          </tr>
        </thead>
        <tbody>
          {edges.map(({ from, to, count, refused }) => (
            <tr key={JSON.stringify([from, to])}>
              <td>
                <AgentLink id={from} />
              </td>
              <td>
                <Text of={to} max={40} />
              </td>
              <td class="number">{count}</td>
              <td class="number">{refused}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
