import { PLANETS } from 'orrery/planets';
import { accessibilityCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { htmlValidate } from '../tools/html-validate.tool.ts';
import { jsxAccessibility } from '../tools/oxlint-jsx-a11y.tool.ts';

export const venus = planet(PLANETS.venus, accessibilityCheck, [htmlValidate, jsxAccessibility]);
