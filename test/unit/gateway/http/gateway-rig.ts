import { ANONYMOUS } from '../../../../runtime/protocol/principal.ts';
import { createGateway } from '../../../../gateway/http/gateway.ts';
import type { GatewayFault, GatewayOptions } from '../../../../gateway/http/gateway-options.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { trialPart } from '../../../fixtures/trial-part.ts';

/** A gateway that serves a trial part, by a clock of its own, without a socket. */
export function rig(options: Partial<GatewayOptions> = {}) {
  const clock = new FakeClock();
  let ids = 0;
  const faults: GatewayFault[] = [];
  const trial = trialPart();
  const gateway = createGateway({
    parts: [trial.part],
    admit: async () => ANONYMOUS,
    seams: {
      clock,
      ids: { origin: 'test', next: () => ++ids },
      newId: () => `id-${++ids}`,
      newSecret: () => 'secret',
      random: () => 0.5,
    },
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  const ask = (path: string, init: RequestInit = {}, host = 'localhost') =>
    gateway.fetch(new Request(`http://${host}${path}`, init));
  return { ...trial, gateway, clock, faults, ask };
}

export const errorOf = async (response: Response) => ((await response.json()) as { error: unknown }).error;
