import type { FirewallGuard } from '../../runtime/protocol/firewall.ts';
import { mayNotGoOut } from '../../runtime/protocol/edge-errors.ts';
import { InOrder } from '../../runtime/protocol/promises.ts';
import { PromptMessage, ResourceContent, ToolContent } from '../../runtime/protocol/tool.ts';
import type { CallOptions, ToolService } from '../../runtime/protocol/tool-service.ts';
import { z } from 'zod';
import { cleanError } from './clean-error.ts';

const Rendered = z.object({ description: z.string().exactOptional(), messages: z.array(PromptMessage) });

/**
 * The tools, resources and prompts of agents behind a firewall: each is asked for what its caller may use, and what it answers,
 * reports and fails with goes out as the firewall gives it. Rejects also with NOT_PERMITTED and REFUSED.
 */
export function guardedTools(tools: ToolService, firewall: FirewallGuard): ToolService {
  const clean = firewall.sanitizeResponse;
  const guarded = async <Answer>(
    name: string,
    options: CallOptions,
    ask: (options: CallOptions) => Promise<Answer>,
    fits: z.ZodType<Answer>,
  ): Promise<Answer> => {
    if (options.as !== undefined) await firewall.filterQuery(options.as.id, name);
    const { told, terms } = cleanedTerms(options, clean);
    try {
      const answer = await ask(terms);
      await told.whenDone();
      // Of nothing there is nothing to be looked at.
      if (answer === undefined) return answer;
      const cleaned = fits.safeParse(await clean(answer));
      if (!cleaned.success) throw mayNotGoOut();
      return cleaned.data;
    } catch (error) {
      throw await cleanError(error, clean);
    }
  };
  return {
    tools: () => tools.tools(),
    tool: (name) => tools.tool(name),
    resources: () => tools.resources(),
    templates: () => tools.templates(),
    prompts: () => tools.prompts(),
    call: (name, args, options = {}) =>
      guarded<unknown>(
        name,
        options,
        (terms) => tools.call(name, args, terms),
        tools.tool(name)?.isContent === true ? ToolContent : z.unknown(),
      ),
    read: (uri, options = {}) =>
      guarded(uri, options, (terms) => tools.read(uri, terms), z.array(ResourceContent)),
    render: (name, args, options = {}) =>
      guarded(name, options, (terms) => tools.render(name, args, terms), Rendered),
    complete: (completing, options = {}) => {
      const { of } = completing;
      const name = 'prompt' in of ? of.prompt : of.uriTemplate;
      return guarded(name, options, (terms) => tools.complete(completing, terms), z.array(z.string()));
    },
    invocations: () => tools.invocations(),
    onChange: (listener) => tools.onChange(listener),
    onUpdate: (listener) => tools.onUpdate(listener),
  };
}

/** The terms of a call whose reports and progress are cleaned before they are told, in order. */
function cleanedTerms(
  options: CallOptions,
  clean: FirewallGuard['sanitizeResponse'],
): { readonly told: InOrder; readonly terms: CallOptions } {
  const told = new InOrder();
  const { onReport, onProgress } = options;
  return {
    told,
    terms: {
      ...options,
      ...(onReport && {
        onReport: (report) =>
          told.add(async () => {
            const cleaned = await clean(report);
            if (cleaned !== undefined) onReport(cleaned);
          }),
      }),
      ...(onProgress && {
        onProgress: ({ note, fraction }) =>
          told.add(async () => {
            const cleaned = note === undefined ? undefined : await clean(note);
            onProgress({ fraction, ...(typeof cleaned === 'string' && { note: cleaned }) });
          }),
      }),
    },
  };
}
