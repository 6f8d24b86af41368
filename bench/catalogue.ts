import type { Measurement } from './measurement.ts';
import { floodMemory } from './probes/flood-memory.ts';
import { gatewayArtifact } from './probes/gateway-artifact.ts';
import { gatewayStall } from './probes/gateway-stall.ts';
import { idleAgents } from './probes/idle-agents.ts';
import { importCost } from './probes/import-cost.ts';
import { largeAudit } from './probes/large-audit.ts';
import { mission } from './probes/mission.ts';
import { neighbourWait } from './probes/neighbour-wait.ts';
import { peerProbes } from './probes/peers.ts';
import { simulation } from './probes/simulate.ts';
import { startUp } from './probes/start-up.ts';
import { proposalRoundTrip, swarmOfMany } from './races/cooperation.ts';
import { askInOneThread, pipelinedAsks, roundTrip } from './races/ask.ts';
import { durable } from './races/durable.ts';
import { gateway } from './races/gateway.ts';
import { mcp } from './races/mcp.ts';
import { sharedStateUpdates } from './races/shared-state.ts';
import { peers } from './races/peers.ts';
import { processAsks } from './races/process.ts';
import { fanOuts, tellAcrossThreads, tellInOneThread } from './races/tell.ts';

/** Everything that `npm run bench` measures, in the order of its table. */
export const catalogue: readonly Measurement[] = [
  tellAcrossThreads,
  ...pipelinedAsks,
  roundTrip,
  ...processAsks,
  tellInOneThread,
  askInOneThread,
  ...fanOuts,
  proposalRoundTrip,
  swarmOfMany,
  sharedStateUpdates,
  ...durable,
  ...gateway,
  gatewayArtifact,
  gatewayStall,
  ...mcp,
  ...peers,
  ...peerProbes,
  startUp,
  ...idleAgents,
  importCost,
  floodMemory,
  neighbourWait,
  simulation,
  mission,
  largeAudit,
];
