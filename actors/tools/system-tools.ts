import type { ToolService } from '../../runtime/protocol/tool-service.ts';
import type { AgentClient, System } from '../../runtime/public.ts';
import { InvocationLog, INVOCATION_LIMITS } from './invocation-log.ts';
import { listenToUpdates } from './resource-updates.ts';
import { teamOffers } from './team-offers.ts';
import { TeamTools } from './team-tools.ts';

export type ToolSystem = Pick<System, 'client' | 'registry'>;

/** One service for each system. */
const services = new WeakMap<object, ToolService>();

/** The tools of a running system, called as `system/host`. */
export function systemTools(system: ToolSystem): ToolService {
  const known = services.get(system);
  if (known !== undefined) return known;
  const made = openSystemTools(system);
  services.set(system, made);
  return made;
}

/** Lists are read without a mailbox. Calls and updates open the embedder's. */
function openSystemTools(system: ToolSystem): ToolService {
  const { registry } = system;
  const { table } = registry;
  const withClient = (use: (client: AgentClient) => void): void => {
    // A system that has stopped has nobody to tell.
    void system.client().then(use, () => undefined);
  };
  const offers = teamOffers(
    {
      get edition() {
        return table.edition;
      },
      cards: () => registry.getLocalCards(),
      watch: (listener) => table.watch(listener),
    },
    (event) => withClient((client) => client.note(event)),
  );
  const log = new InvocationLog(INVOCATION_LIMITS);
  const onUpdate = (listener: (uri: string) => void): (() => void) => {
    let isWanted = true;
    let release: (() => void) | undefined;
    withClient((client) => {
      if (isWanted) release = listenToUpdates(client, listener);
    });
    return () => {
      isWanted = false;
      release?.();
    };
  };
  let opened: TeamTools | undefined;
  const open = async (): Promise<TeamTools> => {
    const client = await system.client();
    opened ??= new TeamTools({
      clock: client.seams.clock,
      offers,
      log,
      caller: {
        callerId: client.agentId,
        ask: (asking) => client.ask(asking),
        stream: (asking) => client.stream(asking),
        note: (event) => client.note(event),
      },
      onUpdate,
    });
    return opened;
  };
  return {
    tools: () => offers.catalogue.tools,
    tool: (name) => offers.catalogue.tool(name),
    resources: () => offers.catalogue.resources,
    templates: () => offers.catalogue.templates,
    prompts: () => offers.catalogue.prompts,
    call: async (...asked) => (opened ?? (await open())).call(...asked),
    read: async (...asked) => (opened ?? (await open())).read(...asked),
    render: async (...asked) => (opened ?? (await open())).render(...asked),
    complete: async (...asked) => (opened ?? (await open())).complete(...asked),
    invocations: () => log.list(),
    onChange: (listener) => offers.onChange(listener),
    onUpdate,
  };
}
