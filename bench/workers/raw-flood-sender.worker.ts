import { envelopeSource } from '../envelope.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port } = pairEnd();
const makeEnvelope = envelopeSource('tiers', 'notification');

serveRuns(async (count) => {
  for (let n = 0; n < count; n++) port.postMessage(makeEnvelope(n));
});
