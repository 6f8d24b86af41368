import { describe, expect, it } from 'vitest';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { trialGateway } from '../fixtures/trial-gateway.ts';
import { until } from '../fixtures/until.ts';

const STREAMS = 2_000;
const REQUEST = 'GET /stream HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n';

const handles = (): number => process.getActiveResourcesInfo().length;

describe('Streams that another process opens and drops (DESIGN 8)', () => {
  it('leave nothing behind: no stream, no connection, no handle', async () => {
    const trial = await trialGateway();
    const { gateway, streams, port, close } = trial;
    const before = handles();
    const dropper = runFixture('stream-dropper', [String(port), String(STREAMS), '500', REQUEST]);
    expect(await resultOf(dropper)).toEqual({ begun: STREAMS });
    const quiet = [
      'orrery_gateway_open_streams 0',
      'orrery_gateway_requests_in_hand 0',
      'orrery_gateway_connections 0',
    ];
    await until('nothing is left', async () => {
      const text = await gateway.metrics.text();
      return quiet.every((line) => text.includes(`${line}\n`));
    });
    await until('every stream has ended', () => streams.ended === STREAMS);
    expect(streams).toEqual({ begun: STREAMS, ended: STREAMS });
    expect(trial.faults).toEqual([]);
    await until('the handles are those of before', () => handles() <= before);
    await close();
  });
});
