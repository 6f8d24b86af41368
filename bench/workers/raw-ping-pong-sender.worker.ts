import type { RawAskSettings } from '../contenders/raw-ask.ts';
import { envelopeSource } from '../envelope.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port, settings } = pairEnd<RawAskSettings>();
const makeEnvelope = envelopeSource(settings.layout, 'request');
let sent = 0;
let end = 0;
let finish: () => void = () => undefined;

port.on('message', () => {
  if (sent === end) finish();
  else port.postMessage(makeEnvelope(sent++));
});

serveRuns((count) => {
  end = sent + count;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  port.postMessage(makeEnvelope(sent++));
  return finished;
});
