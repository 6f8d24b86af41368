import type { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { McpOffer } from '../../runtime/protocol/mcp-link.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { MountedServer } from './mounted-server.ts';
import { idOfName } from './tool-name.ts';

type Context = HandlingContext<MountedServer>;

/** Replaces the agent's resources, templates and prompts by those of the server; returns which were left out, and why. */
export function offerContent(definition: AgentDefinition<MountedServer>, offer: McpOffer): readonly string[] {
  const left: string[] = [];
  const add = (what: string, run: () => unknown): void => {
    try {
      run();
    } catch (error) {
      left.push(`${what}: ${reasonOf(error)}`);
    }
  };
  definition.content.clear();
  for (const resource of offer.resources) add(resource.uri, () => definition.resource(resource, read));
  for (const template of offer.resourceTemplates) {
    const { uriTemplate } = template;
    const complete = completers(variablesIn(uriTemplate), { uriTemplate });
    add(uriTemplate, () => definition.resourceTemplate(template, read, { complete }));
  }
  for (const prompt of offer.prompts) {
    const names = (prompt.arguments ?? []).map(({ name }) => name);
    const complete = completers(names, { prompt: prompt.name });
    const title = prompt.title ?? prompt.name;
    add(prompt.name, () =>
      definition.prompt(
        { ...prompt, name: idOfName(prompt.name), title },
        async (args, ctx) => [...(await ctx.state.render(prompt.name, args, ctx)).messages],
        { complete },
      ),
    );
  }
  return left;
}

const read = async ({ uri }: { readonly uri: string }, ctx: Context) =>
  (await ctx.state.read(uri, ctx)).map(({ mimeType, ...content }) =>
    mimeType === undefined ? content : { ...content, mimeType },
  );

type Complete = (
  value: string,
  others: Readonly<Record<string, string>>,
  ctx: Context,
) => Promise<readonly string[]>;

function completers(
  names: readonly string[],
  of: { readonly prompt: string } | { readonly uriTemplate: string },
): Readonly<Record<string, Complete>> {
  const complete =
    (name: string): Complete =>
    (value, others, ctx) =>
      ctx.state.complete({ of, argument: { name, value }, others }, ctx);
  return Object.fromEntries(names.map((name) => [name, complete(name)]));
}

/** The variables of a URI template, `{name}` or `{+path}`. */
const variablesIn = (uriTemplate: string): readonly string[] =>
  [...uriTemplate.matchAll(/\{\+?([A-Za-z0-9_]+)\}/g)].map(([, name]) => name as string);
