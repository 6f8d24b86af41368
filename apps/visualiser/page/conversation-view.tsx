import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { durationText } from '../model/durations.ts';
import { SEQUENCE } from '../model/sequence.ts';
import type { ConversationLook, RowDetail } from '../worker/look.ts';
import { Drawn } from './drawn.tsx';
import { Icon } from './icon.tsx';
import { useBody, usePage } from './page-context.ts';
import { saveFile } from './save-file.ts';
import { Term, Text } from './text.tsx';
import { useWindow, Windowed } from './windowed.tsx';

export function ConversationView({ id }: { readonly id: string }): JSX.Element {
  const { state } = usePage();
  const { window, box } = useWindow(SEQUENCE.row);
  const body = useBody({ view: 'conversation', id, window });
  const [chosen, setChosen] = useState<number>();
  const isThis = body?.id === id ? body : undefined;
  const save = async (as: 'svg' | 'mermaid'): Promise<void> => {
    const text = await state.recorder.exportConversation(id, as);
    if (text !== undefined)
      saveFile(text, {
        name: `${id}.${as === 'svg' ? 'svg' : 'mmd'}`,
        type: as === 'svg' ? 'image/svg+xml' : 'text/plain',
      });
  };
  return (
    <div class="view conversation">
      <p class="crumbs">
        <a href={state.link({ view: 'conversations' })}>Conversations</a> /{' '}
        <Term word="conversation">conversation</Term>
      </p>
      <h1>
        <Text of={id} max={120} />
      </h1>
      {isThis === undefined ? null : !isThis.isKnown ? (
        <p class="empty">
          At this moment nothing of this conversation has happened, or it is no longer kept.
        </p>
      ) : (
        <>
          <div class="bar">
            <span>
              {isThis.participants.length} take part, {isThis.total} rows in{' '}
              {durationText(isThis.lastMs - isThis.firstMs)}
              {isThis.leftOut > 0 ? `, ${isThis.leftOut} more are not drawn` : ''}
            </span>
            {isThis.troubles > 0 ? (
              <span class="warning">
                <Icon name="warning" /> {isThis.troubles} went wrong
              </span>
            ) : (
              <span class="quiet">
                <Icon name="good" /> nothing went wrong
              </span>
            )}
            <span class="quiet key">
              — sent · – – answer · ····· tried again · ✕ went wrong · ⚑ from outside · ◔ budget
            </span>
            <span class="push line">
              Save as
              <button type="button" onClick={() => void save('svg')}>
                SVG
              </button>
              <button type="button" onClick={() => void save('mermaid')}>
                Mermaid
              </button>
            </span>
          </div>
          <div class={chosen === undefined ? 'split alone' : 'split'}>
            <Sequence body={isThis} box={box} chosen={chosen} onChoose={setChosen} />
            {chosen === undefined ? null : (
              <Detail id={id} at={chosen} onClose={() => setChosen(undefined)} />
            )}
          </div>
        </>
      )}
    </div>
  );
}

function Sequence({
  body,
  box,
  chosen,
  onChoose,
}: {
  readonly body: ConversationLook;
  readonly box: { current: HTMLDivElement | null };
  readonly chosen: number | undefined;
  readonly onChoose: (at: number) => void;
}): JSX.Element {
  const { width } = body;
  return (
    <Windowed
      box={box}
      first={body.first}
      total={body.total}
      rowHeight={SEQUENCE.row}
      label="Sequence of the conversation"
      className="sequence-scroll"
      as="list"
      head={
        <svg
          class="sequence sequence-head"
          width={width}
          height={SEQUENCE.top - 8}
          viewBox={`0 0 ${width} ${SEQUENCE.top - 8}`}
          role="img"
          aria-label={`Who takes part: ${body.participants
            .map(({ id }) => id)
            .join(', ')
            .slice(0, 300)}`}
        >
          {body.head.map((drawing, at) => (
            <Drawn key={at} drawing={drawing} />
          ))}
        </svg>
      }
    >
      {body.rows.map(({ at, drawing, text, isBad }) => {
        const top = SEQUENCE.top + at * SEQUENCE.row;
        return (
          <div key={at} role="listitem" class="sequence-item">
            <button
              type="button"
              class={`sequence-row ${isBad ? 'bad-row' : ''}`}
              style={{ inlineSize: `${width}px`, blockSize: `${SEQUENCE.row}px` }}
              aria-pressed={chosen === at}
              data-row={at}
              onClick={() => onChoose(at)}
            >
              <span class="unseen">{text}</span>
              <svg
                class="sequence"
                width={width}
                height={SEQUENCE.row}
                viewBox={`0 ${top} ${width} ${SEQUENCE.row}`}
                aria-hidden="true"
              >
                {body.participants.map((_, column) => {
                  const x = SEQUENCE.left + (column + 0.5) * SEQUENCE.column;
                  return <line key={column} class="life" x1={x} x2={x} y1={top} y2={top + SEQUENCE.row} />;
                })}
                <Drawn drawing={drawing} />
              </svg>
            </button>
          </div>
        );
      })}
    </Windowed>
  );
}

/** What there is to know of an arrow: the envelope, redacted. */
function Detail({
  id,
  at,
  onClose,
}: {
  readonly id: string;
  readonly at: number;
  readonly onClose: () => void;
}): JSX.Element {
  const { state } = usePage();
  const [detail, setDetail] = useState<RowDetail>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    let isWanted = true;
    void state.recorder.rowDetail(id, at, state.moment).then((found) => {
      if (!isWanted) return;
      setDetail(found);
      heading.current?.focus();
    });
    return () => {
      isWanted = false;
    };
  }, [id, at]);
  return (
    <aside
      class="facts detail"
      aria-label="Envelope"
      tabIndex={0}
      onKeyDown={(event) => (event.key === 'Escape' ? onClose() : undefined)}
    >
      <div class="line">
        <h2 ref={heading} tabIndex={-1}>
          <Text of={detail?.title ?? ''} max={160} />
        </h2>
        <button type="button" class="push" onClick={onClose}>
          Close
        </button>
      </div>
      <dl>
        {detail?.fields.map(([name, value]) => (
          <div key={name}>
            <dt>{FIELD_NAMES.get(name) ?? name}</dt>
            <dd>
              <Text of={value} max={600} />
            </dd>
          </div>
        ))}
      </dl>
      {detail?.envelope === undefined ? null : (
        <>
          <h3>The envelope, with secrets taken out</h3>
          <pre tabIndex={0}>{lined(detail.envelope)}</pre>
        </>
      )}
      {detail?.why === undefined ? null : <p class="quiet">{detail.why}</p>}
    </aside>
  );
}

/** Each line as it may be shown, so that its breaks are kept. */
const lined = (text: string): JSX.Element[] =>
  text.split('\n').map((line, at) => (
    <span key={at}>
      <Text of={line} max={400} />
      {'\n'}
    </span>
  ));

const FIELD_NAMES: ReadonlyMap<string, string> = new Map([
  ['atMs', 'At (Unix ms)'],
  ['envelopeId', 'Envelope'],
  ['messageType', 'Type'],
  ['isAnswer', 'Is an answer'],
  ['receivedAtMs', 'Taken (Unix ms)'],
  ['settledAtMs', 'Done (Unix ms)'],
  ['deadlineAtMs', 'Deadline (Unix ms)'],
  ['agentId', 'Agent'],
]);
