import { z } from 'zod';
import { schemaFaults } from '../schema-faults.ts';
import { type ForeignText, given, joined, repeatedKeys } from './foreign-mission.ts';

const Key = z.union([z.string().min(1), z.number()], { error: 'expected a text or a number' });
const Texts = z.union([z.string(), z.array(z.string())], { error: 'expected sentences' });

/** A story of `prd.json`. Fields that are not known are left alone. */
const Story = z.looseObject({
  id: Key,
  title: z.string().min(1),
  description: z.string().nullish(),
  acceptanceCriteria: Texts.nullish(),
  priority: z.int().min(0).nullish(),
  passes: z.boolean().nullish(),
  notes: Texts.nullish(),
  labels: z.array(z.string()).nullish(),
  dependsOn: z.array(Key).nullish(),
});
type Story = z.infer<typeof Story>;

/** A list of stories, as loops around one agent have it. */
export const PrdJson = z.looseObject({
  name: z.string().nullish(),
  project: z.string().nullish(),
  description: z.string().nullish(),
  branchName: z.string().nullish(),
  userStories: z.array(Story).min(1),
});

/** The tasks of a `prd.json`, which is parsed already. A story that passes is done. */
export function readPrdJson(value: unknown): ForeignText {
  const parsed = PrdJson.safeParse(value);
  if (!parsed.success) return { faults: schemaFaults(parsed.error, value) };
  const { name, project, description, branchName, userStories } = parsed.data;
  // Some begin to count at 0.
  const offset = userStories.some(({ priority }) => priority === 0) ? 1 : 0;
  const tasks = userStories.map((story, index) => taskOf(story, { index, offset }));
  const faults = repeatedKeys(tasks);
  if (faults.length > 0) return { faults };
  return {
    mission: {
      ...given('name', joined(name ?? project ?? undefined)),
      ...given('description', joined(description ?? undefined)),
      ...given('branch', joined(branchName ?? undefined)),
      tasks,
    },
  };
}

function taskOf(story: Story, { index, offset }: { readonly index: number; readonly offset: number }) {
  const { description, notes, labels, acceptanceCriteria, priority } = story;
  const marked =
    labels === undefined || labels === null || labels.length === 0 ? undefined : labels.join(', ');
  const acceptance = textsOf(acceptanceCriteria);
  return {
    key: String(story.id),
    title: story.title,
    ...given(
      'description',
      joined(
        description ?? undefined,
        textsOf(notes).join('\n'),
        marked === undefined ? undefined : `Labels: ${marked}`,
      ),
    ),
    ...given('acceptance', acceptance.length === 0 ? undefined : acceptance),
    ...given('priority', priority === undefined || priority === null ? undefined : priority + offset),
    dependsOn: (story.dependsOn ?? []).map(String),
    state: story.passes === true ? ('done' as const) : ('open' as const),
    place: `userStories[${index}]`,
  };
}

const textsOf = (texts: string | readonly string[] | null | undefined): readonly string[] =>
  (typeof texts === 'string' ? texts.split('\n') : (texts ?? [])).filter((text) => text.trim() !== '');
