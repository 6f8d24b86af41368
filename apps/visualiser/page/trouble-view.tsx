import type { JSX } from 'preact';
import { durationText, sinceStart } from '../model/durations.ts';
import type { DeadLetterScene, Note } from '../model/scene.ts';
import { Icon } from './icon.tsx';
import { useBody, usePage } from './page-context.ts';
import { Summary, TroubleLine } from './summary.tsx';
import { AgentLink, ConversationLink, Term, Text } from './text.tsx';

export function TroubleView(): JSX.Element {
  const { state } = usePage();
  const body = useBody({ view: 'trouble' });
  const nowMs = state.look?.clock.atMs ?? 0;
  return (
    <div class="view">
      <Summary />
      {body === undefined ? null : (
        <>
          <section aria-label="All trouble">
            <h2>What is wrong, the worst first</h2>
            {body.troubles.length === 0 ? (
              <p class="calm">
                <Icon name="good" /> Nothing is wrong at this moment.
              </p>
            ) : (
              <ul class="strip">
                {body.troubles.map((trouble) => (
                  <li key={trouble.key} class={trouble.level}>
                    <TroubleLine trouble={trouble} />
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section aria-label="Waits">
            <h2>
              Who waits for whom{' '}
              <span class="quiet">
                {body.waitTotal > body.waits.length
                  ? `the ${body.waits.length} longest of ${body.waitTotal}`
                  : ''}
              </span>
            </h2>
            {body.waits.length === 0 ? (
              <p class="empty">Nobody waits for anybody.</p>
            ) : (
              <table class="plain wide">
                <thead>
                  <tr>
                    <th scope="col">Who waits</th>
                    <th scope="col">For whom</th>
                    <th scope="col">For what</th>
                    <th scope="col">Since</th>
                    <th scope="col">Until</th>
                    <th scope="col">How far</th>
                  </tr>
                </thead>
                <tbody>
                  {body.waits.map((wait) => (
                    <tr key={wait.envelopeId}>
                      <td>
                        <AgentLink id={wait.waiter} name={wait.waiterName} />
                      </td>
                      <td>
                        <AgentLink id={wait.awaited} name={wait.awaitedName} />
                      </td>
                      <td>
                        {wait.conversationId === undefined ? (
                          <Text of={wait.capability ?? '–'} max={40} />
                        ) : (
                          <ConversationLink id={wait.conversationId} max={40} />
                        )}
                      </td>
                      <td class="number">{durationText(nowMs - wait.sinceMs)}</td>
                      <td class="number">
                        {wait.untilMs === undefined
                          ? 'not told'
                          : wait.untilMs < nowMs
                            ? `${durationText(nowMs - wait.untilMs)} too late`
                            : `in ${durationText(wait.untilMs - nowMs)}`}
                      </td>
                      <td>
                        {wait.isBegun
                          ? `worked at${wait.attempts > 1 ? `, attempt ${wait.attempts}` : ''}`
                          : 'in the mailbox'}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </section>
          <Letters letters={body.deadLetters} total={body.deadLetterTotal} nowMs={nowMs} />
          <Notes title="What gave up, and why" notes={body.gaveUp} empty="Nobody gave up." />
          <Notes
            title="Security"
            notes={body.security}
            empty="No rule refused anything, and nobody crossed an audited boundary."
          />
          <section aria-label="Taint">
            <h2>
              Who holds text from outside (<Term word="taint">taint</Term>)
            </h2>
            {body.tainted.length === 0 ? (
              <p class="empty">Nobody.</p>
            ) : (
              <ul class="lines">
                {body.tainted.map(({ id, name, sources }) => (
                  <li key={id}>
                    <Icon name="flag" /> <AgentLink id={id} name={name} />:{' '}
                    <Text of={sources.join(', ')} max={200} />
                  </li>
                ))}
              </ul>
            )}
          </section>
          <Notes title="What else went wrong" notes={body.failures} empty="Nothing else." />
        </>
      )}
    </div>
  );
}

function Letters({
  letters,
  total,
  nowMs,
}: {
  readonly letters: readonly DeadLetterScene[];
  readonly total: number;
  readonly nowMs: number;
}): JSX.Element {
  const { state } = usePage();
  const source = state.look?.source;
  return (
    <section aria-label="Dead letters">
      <h2>
        <Term word="dead letter">Dead letters</Term>{' '}
        <span class="quiet">{total > letters.length ? `the last ${letters.length} of ${total}` : ''}</span>
      </h2>
      {letters.length === 0 ? (
        <p class="empty">Every envelope reached somebody.</p>
      ) : (
        <table class="plain wide">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">What</th>
              <th scope="col">Why nobody has it</th>
              <th scope="col">When</th>
              <th scope="col">Again</th>
            </tr>
          </thead>
          <tbody>
            {letters.map((letter, at) => {
              const about = `${letter.type} from ${letter.sender} to ${letter.recipient}`;
              return (
                <tr key={`${letter.id} ${at}`}>
                  <td>
                    <AgentLink id={letter.sender} />
                  </td>
                  <td>
                    <AgentLink id={letter.recipient} />
                  </td>
                  <td>
                    {letter.conversationId === undefined ? (
                      <Text of={letter.type} max={30} />
                    ) : (
                      <ConversationLink id={letter.conversationId} max={30} />
                    )}
                  </td>
                  <td>
                    <strong>
                      <Text of={letter.code} max={40} />
                    </strong>{' '}
                    <Text of={letter.reason} max={160} />
                  </td>
                  <td class="number">{durationText(nowMs - letter.atMs)} ago</td>
                  <td>
                    {source?.canUnlock === true && letter.canReplay && letter.id !== undefined ? (
                      <button
                        type="button"
                        onClick={() => state.show({ kind: 'unlock', letterId: letter.id ?? '', about })}
                      >
                        Send again…
                      </button>
                    ) : (
                      <span class="quiet">
                        {source?.kind === 'trace'
                          ? 'a recording'
                          : letter.canReplay
                            ? 'locked'
                            : 'not possible'}
                      </span>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Notes({
  title,
  notes,
  empty,
}: {
  readonly title: string;
  readonly notes: readonly Note[];
  readonly empty: string;
}): JSX.Element {
  const { state } = usePage();
  const startedAtMs = state.look?.clock.startedAtMs ?? 0;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {notes.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <ul class="lines">
          {notes.map(({ atMs, text, code, agentId, conversationId, type, stack }, at) => (
            <li key={`${atMs} ${at}`}>
              <span class="number quiet">{sinceStart(atMs, startedAtMs)}</span>{' '}
              <span class="kind">{code ?? type}</span>{' '}
              {agentId === undefined ? null : (
                <>
                  <AgentLink id={agentId} />{' '}
                </>
              )}
              <Text of={text} max={300} />{' '}
              {conversationId === undefined ? null : (
                <span class="quiet">
                  in <ConversationLink id={conversationId} max={30} />
                </span>
              )}
              {stack === undefined ? null : (
                <details>
                  <summary>Where in the code</summary>
                  <pre tabIndex={0}>
                    {stack
                      .split('\n')
                      .slice(0, 40)
                      .map((line, number) => (
                        <span key={number}>
                          <Text of={line} max={300} />
                          {'\n'}
                        </span>
                      ))}
                  </pre>
                </details>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
