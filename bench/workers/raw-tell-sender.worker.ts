import type { RawTellSettings } from '../contenders/raw-tell.ts';
import { envelopeSource } from '../envelope.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port, settings } = pairEnd<RawTellSettings>();
const makeEnvelope = envelopeSource(settings.layout, 'notification');
let sent = 0;
let acknowledged = 0;
let wake: () => void = () => undefined;

port.on('message', (total: number) => {
  acknowledged = total;
  wake();
});

const nextAcknowledgement = (): Promise<void> =>
  new Promise((resolve) => {
    wake = resolve;
  });

function post(size: number): void {
  if (settings.batch === 1) {
    port.postMessage(makeEnvelope(sent++));
    return;
  }
  const batch = Array.from({ length: size }, () => makeEnvelope(sent++));
  port.postMessage(JSON.stringify(batch));
}

serveRuns(async (count) => {
  const end = sent + count;
  while (sent < end) {
    const size = Math.min(settings.batch, end - sent);
    if (sent + size - acknowledged > settings.window) await nextAcknowledgement();
    else post(size);
  }
  port.postMessage(null);
  while (acknowledged < end) await nextAcknowledgement();
});
