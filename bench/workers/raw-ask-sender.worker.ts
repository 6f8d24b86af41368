import type { RawAskSettings } from '../contenders/raw-ask.ts';
import { envelopeSource } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import type { RawReply } from './raw-ask-receiver.worker.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port, settings } = pairEnd<RawAskSettings>();
const makeEnvelope = envelopeSource(settings.layout, 'request');
const waiting = new Map<string, (payload: unknown) => void>();
let sent = 0;

port.on('message', ({ id, payload }: RawReply) => {
  const resolve = waiting.get(id);
  waiting.delete(id);
  resolve?.(payload);
});

function ask(): Promise<unknown> {
  const envelope = makeEnvelope(sent++);
  return new Promise((resolve) => {
    waiting.set(envelope.id, resolve);
    port.postMessage(envelope);
  });
}

serveRuns((count) => pipelined(count, settings.width, ask));
