/** Loaded when there is a team with skills: what they run on need not be installed for others. */
export const loadSkills = (): Promise<typeof import('orrery/skills')> => import('orrery/skills');
