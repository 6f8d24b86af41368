import { z } from 'zod';
import { approvalOf, isApprovedByNobody } from './actors/tasks/approvals.ts';
import { chainRpc } from './gateway/xpr/chain/chain-rpc.ts';
import type { XprAccounts } from './gateway/xpr/chain/xpr-accounts.ts';
import { sharedToken } from './gateway/admit/shared-token.ts';
import { slidingWindow } from './gateway/admit/sliding-window.ts';
import { trustGate } from './gateway/xpr/admit/trust-gate.ts';
import { xprAdmission, type XprAdmissionOptions } from './gateway/xpr/admit/xpr-admission.ts';
import { xprOptionsFromEnv } from './gateway/xpr/admit/xpr-env.ts';
import { xprSignature } from './gateway/xpr/admit/xpr-signature.ts';
import type { AgentOptions } from './runtime/agent/agent-options.ts';
import type { AdmissionRule, Authenticator } from './runtime/protocol/admission.ts';
import { invalidOptions } from './runtime/protocol/errors.ts';
import { parseOptions, requireMethod } from './runtime/protocol/parse-options.ts';
import type { Principal } from './runtime/protocol/principal.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { type AgentDefinition, defineAgent, type HandlingContext } from './runtime/public.ts';
import {
  xprA2ACancelTask,
  xprA2ADelegateJob,
  xprA2ADiscover,
  xprA2AGetTask,
  xprA2ASendMessage,
} from './gateway/xpr/tools/tool-capabilities.ts';
import { type AskPerson, XprToolService, type XprToolOptions } from './gateway/xpr/tools/xpr-tool-service.ts';
import type { Binding } from './gateway/binding.ts';
import { xprCards } from './gateway/xpr/server/xpr-card.ts';
import { type XprPartOptions, xprPart } from './gateway/xpr/server/xpr-part.ts';

export { createA2ADigest, recoverA2APublicKey, signA2ARequest } from './gateway/xpr/chain/sign-request.ts';
export { type ChainRpcOptions, chainRpc } from './gateway/xpr/chain/chain-rpc.ts';
export { hashBody } from './gateway/xpr/chain/sign-request.ts';
export type { XprAccounts, XprAgent, XprJob, XprJobs } from './gateway/xpr/chain/xpr-accounts.ts';
export type { XprAdmissionOptions } from './gateway/xpr/admit/xpr-admission.ts';
export { type XprEnvOptions, xprOptionsFromEnv } from './gateway/xpr/admit/xpr-env.ts';
export {
  A2AClient,
  type A2AClientOptions,
  type SendMessageOptions,
} from './gateway/xpr/client/a2a-client.ts';
export { A2AError, type ClientFault } from './gateway/xpr/client/a2a-error.ts';
export type { ForeignUrlRules, Resolve } from './gateway/reach/foreign-url.ts';
export {
  NeedsConfirmation,
  xprA2ACancelTask,
  xprA2ADelegateJob,
  xprA2ADiscover,
  xprA2AGetTask,
  xprA2ASendMessage,
} from './gateway/xpr/tools/tool-capabilities.ts';
export type { XprToolOptions } from './gateway/xpr/tools/xpr-tool-service.ts';
export {
  A2AArtifact,
  A2AMessage,
  A2APart,
  A2ATask,
  A2ATaskState,
  XprAgentCard,
} from './gateway/xpr/client/xpr-schemas.ts';
export type { Binding, BindingDeps, OpenBinding } from './gateway/binding.ts';

/** Options of `xprTools`. `agent` is the identity of the agent. @default the agent `xpr`, of tier 2 */
export interface XprToolsOptions extends XprToolOptions {
  readonly agent?: AgentOptions;
}

const AGENT: AgentOptions = {
  id: 'xpr',
  name: 'XPR',
  version: '1.0.0',
  description: 'Finds agents on the XPR chain and works with them',
  tier: 2,
  handlingTimeoutMs: 60_000,
};

/**
 * Makes an agent with XPR's five tools as capabilities: `xpr_a2a_discover`, `xpr_a2a_send_message`, `xpr_a2a_get_task`,
 * `xpr_a2a_cancel_task`, `xpr_a2a_delegate_job`. Export it from a module of its own: then the signing key is only in that
 * module's thread or process.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export function xprTools({ agent = AGENT, ...options }: XprToolsOptions): AgentDefinition {
  const service = new XprToolService(options);
  // Effects have the tools' names, so that a simulation can answer them.
  return defineAgent(agent)
    .handle(xprA2ADiscover, (input, ctx) =>
      ctx.effect(xprA2ADiscover.id, (signal) => service.discover(input, { signal })),
    )
    .handle(xprA2ASendMessage, (input, ctx) =>
      ctx.effect(xprA2ASendMessage.id, (signal) => service.sendMessage(input, { signal })),
    )
    .handle(xprA2AGetTask, (input, ctx) =>
      ctx.effect(xprA2AGetTask.id, (signal) => service.getTask(input, { signal })),
    )
    .handle(xprA2ACancelTask, (input, ctx) =>
      ctx.effect(xprA2ACancelTask.id, (signal) => service.cancelTask(input, { signal })),
    )
    .handle(xprA2ADelegateJob, async (input, ctx) => {
      const unconfirmed = await service.gate(input, askPersonOf(ctx));
      if (unconfirmed !== undefined) return unconfirmed;
      return ctx.effect(xprA2ADelegateJob.id, (signal) => service.delegateJob(input, { signal }));
    });
}

/** Asks the system's approver, or the owner of the task. */
const askPersonOf =
  (ctx: HandlingContext): AskPerson =>
  async (request) => {
    try {
      await approvalOf(ctx, request);
      return true;
    } catch (error) {
      if (isApprovedByNobody(error)) return false;
      throw error;
    }
  };

/**
 * Options of `xprBinding`.
 *
 * - `accounts`  looks accounts up: `chainRpc(...)`.
 * - `account`   account of the system, whose record is shown on its card. @default none
 * - `agents`    accounts of single agents, by agent id. @default none
 * - `admission` checks of callers.
 */
export interface XprBindingOptions extends Omit<XprPartOptions, 'service' | 'admit'> {
  readonly accounts: XprAccounts;
  readonly account?: string | undefined;
  readonly agents?: Readonly<Record<string, string>>;
  readonly admission?: XprAdmissionOptions;
}

/**
 * Makes the XPR binding of a gateway: `serve(system, { bindings: [xprBinding({...})] })`. Throws INVALID_OPTIONS here, or
 * when it is served.
 */
export function xprBinding({
  accounts,
  account,
  agents = {},
  admission = {},
  ...part
}: XprBindingOptions): Binding {
  requireMethod('xprBinding.accounts', accounts, 'activeKeys', 'what knows of accounts, as chainRpc(...)');
  return {
    name: 'xpr',
    open: ({ service, seams: { clock }, seen }) => ({
      part: xprPart({ ...part, service, admit: xprAdmission(admission, { clock, accounts, seen }) }),
      amendCard: xprCards({ accounts, account, agents }, { clock }),
    }),
  };
}

/** The principal for OPENCLAW_HOOK_TOKEN. */
const HOOK: Principal = {
  id: 'hook:openclaw',
  kind: 'service',
  roles: [],
  tier: 3,
  trust: { score: 1, source: 'token' },
};

const Gates = z.strictObject({ gatesAll: z.boolean().default(false) });

/**
 * Makes options of `serve` from the environment of an XPR agent: `serve(system, xprServeOptions(process.env))`. The other
 * protocols of the gateway then need a signature or the token too. Rate and trust are checked by the XPR binding only (C-08);
 * with `gatesAll`, by all protocols.
 *
 * Throws INVALID_OPTIONS naming variable and value. XPR_RPC_ENDPOINT is required.
 */
export function xprServeOptions(
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly gatesAll?: boolean } = {},
): {
  readonly bindings: Binding[];
  readonly authenticators: Authenticator[];
  readonly rules: AdmissionRule[];
  readonly tasks: { readonly limits: { readonly turns: number } };
} {
  const { gatesAll } = parseOptions(Gates, options, 'xprServeOptions');
  const { rpcEndpoint, hookToken, ...asked } = xprOptionsFromEnv(env);
  if (rpcEndpoint === undefined)
    throw invalidOptions('XPR_RPC_ENDPOINT', rpcEndpoint, 'an http or https URL of a node');
  const seams = systemSeams();
  const accounts = chainRpc({ endpoint: rpcEndpoint }, seams);
  const signature = xprSignature({}, { clock: seams.clock, accounts });
  const trust = { minKycLevel: asked.minKycLevel, minTrustScore: asked.minTrustScore };
  const others = hookToken === undefined ? [] : [sharedToken(hookToken, HOOK)];
  const binding = xprBinding({
    accounts,
    account: asked.account,
    toolMode: asked.toolMode,
    mostMessages: asked.maxTurns,
    admission: {
      signature,
      authRequired: asked.authRequired,
      requestsPerMinute: asked.requestsPerMinute,
      trust,
      authenticators: others,
    },
  });
  return {
    bindings: [binding],
    authenticators: [signature, ...others],
    rules: gatesAll
      ? [
          slidingWindow({ requests: asked.requestsPerMinute }, { clock: seams.clock }),
          trustGate(trust, { clock: seams.clock, accounts }),
        ]
      : [],
    tasks: { limits: { turns: asked.maxConcurrentRuns } },
  };
}
