import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { usePage } from './page-context.ts';
import { Text } from './text.tsx';

export function TokenForm({ onToken }: { readonly onToken: (token: string) => void }): JSX.Element {
  const [token, setToken] = useState('');
  const id = useId();
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') onToken(token.trim());
      }}
    >
      <label for={id}>Token</label>
      <input
        id={id}
        type="password"
        autocomplete="off"
        required
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit">Connect</button>
    </form>
  );
}

export function Dialogs({ onToken }: { readonly onToken: (token: string) => void }): JSX.Element | null {
  const { state } = usePage();
  const { dialog } = state;
  if (dialog === undefined) return null;
  switch (dialog.kind) {
    case 'token':
      return (
        <Modal title="Connect to the team" onClose={() => state.show(undefined)}>
          <TokenForm
            onToken={(token) => {
              onToken(token);
              state.show(undefined);
            }}
          />
        </Modal>
      );
    case 'unlock':
      return <Unlock letterId={dialog.letterId} about={dialog.about} />;
    case 'help':
      return <Help />;
  }
}

function Modal({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => (opener instanceof HTMLElement ? opener.focus() : undefined);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
      <p class="line end">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

/** Sends a dead letter again: only with the unlock token, and only after asking. */
function Unlock({ letterId, about }: { readonly letterId: string; readonly about: string }): JSX.Element {
  const { state } = usePage();
  const [unlock, setUnlock] = useState(state.unlockToken ?? '');
  const [answer, setAnswer] = useState<string>();
  const id = useId();
  const replay = async (): Promise<void> => {
    const { accepted, text } = await state.recorder.replay(letterId, unlock);
    if (accepted) state.unlockToken = unlock;
    setAnswer(text);
  };
  return (
    <Modal title="Send this letter again?" onClose={() => state.show(undefined)}>
      <p>
        <Text of={about} max={300} />
      </p>
      <p>It is sent as it was. Whoever takes it does its work, with all that this causes.</p>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          void replay();
        }}
      >
        <label for={id}>Unlock token</label>
        <input
          id={id}
          type="password"
          autocomplete="off"
          required
          value={unlock}
          onInput={(event) => setUnlock(event.currentTarget.value)}
        />
        <button type="submit">Unlock and send again</button>
      </form>
      {answer === undefined ? null : (
        <p role="status" class="message">
          {answer}
        </p>
      )}
    </Modal>
  );
}

function Help(): JSX.Element {
  const { state } = usePage();
  return (
    <Modal title="How to read this page" onClose={() => state.show(undefined)}>
      <dl class="help">
        <dt>System</dt>
        <dd>
          Every agent, by node and thread. An agent that works is busy; the bar is its mailbox. “Who talks to
          whom” draws the same as a net.
        </dd>
        <dt>Work</dt>
        <dd>The mission’s tasks, what agents propose to each other, and what is spent.</dd>
        <dt>Conversations</dt>
        <dd>
          Each is what one request has caused, as a sequence: dashed arrows are answers, dotted ones are tried
          again, and those with a cross went wrong.
        </dd>
        <dt>Trouble</dt>
        <dd>
          What is wrong, the worst first: who waits for whom, what reached nobody, what was refused, who gave
          up.
        </dd>
        <dt>Time</dt>
        <dd>
          What happened, one by one. The bar below goes back in time: then the whole page shows that moment.
        </dd>
      </dl>
      <p>
        In the time bar, the arrow keys step through what happened, Home and End go to its ends, and Space
        plays. Every link keeps the moment that you look at.
      </p>
    </Modal>
  );
}
