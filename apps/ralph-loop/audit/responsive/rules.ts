import { rulesOf } from '../rule.ts';

/** What EUROPA looks for. */
export const RESPONSIVE_RULES = rulesOf('europa', {
  'responsive.no-viewport': [
    'medium',
    'A page without a viewport: a telephone shows it as on a desk, in small',
  ],
  'responsive.no-zoom': ['medium', 'A page that may not be enlarged: who sees badly cannot read it'],
  'responsive.fixed-viewport': ['medium', 'A page is as wide as the number written here, on any screen'],
  'responsive.fixed-width': ['low', 'Something is wider than a telephone, whatever the screen'],
  'responsive.text-zoom': ['low', 'text-size-adjust: none keeps users from enlarging text'],
  'responsive.image-size': ['info', 'An image without a size: the page jumps when it arrives'],
  'responsive.manifest': ['low', 'A web app manifest lacks what is needed to install the app'],
  'responsive.manifest-icons': ['low', 'A web app manifest lacks an icon of 192 or of 512 pixels'],
});
