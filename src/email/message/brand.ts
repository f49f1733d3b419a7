/** The look of a project in its emails: `.Brand` of templates, from the configuration. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';

/** The value of `.Brand`; texts that are not set are empty. */
interface Brand {
  readonly Name: string;
  readonly LogoURL: string;
  /** `#2563eb` */
  readonly Color: string;
  /** Black or white, whichever is easier to read on the color: its contrast is 4.5:1 or more on any. */
  readonly OnColor: string;
  readonly Footer: string;
}

type BrandConfig = Pick<
  AuthConfig,
  'site_url' | 'mailer_brand_name' | 'mailer_brand_logo_url' | 'mailer_brand_color' | 'mailer_brand_footer'
>;

const known = new WeakMap<BrandConfig, Brand>();

/** Without a name, the brand is the host of the site URL. */
export function brandOf(config: BrandConfig): Brand {
  let brand = known.get(config);
  if (brand === undefined) {
    const color = config.mailer_brand_color;
    const [onWhite, onBlack] = [contrast(color, '#ffffff'), contrast(color, '#000000')];
    brand = {
      Name: config.mailer_brand_name || URL.parse(config.site_url)?.host || config.site_url,
      LogoURL: config.mailer_brand_logo_url ?? '',
      Color: color,
      OnColor: onWhite >= onBlack ? '#ffffff' : '#000000',
      Footer: config.mailer_brand_footer ?? '',
    };
    known.set(config, brand);
  }
  return brand;
}

/** Less, and a shape does not stand out from its ground (WCAG 2, 1.4.11). */
const minShapeContrast = 3;

/** A warning about the color of the button on the white card; null for none. In dark mode the button has a border. */
export function faintColor(color: string): string | null {
  const ratio = contrast(color, '#ffffff');
  if (ratio >= minShapeContrast) return null;
  return `the button hardly stands out from the white card: its contrast is ${ratio.toFixed(1)}:1, choose a darker color for ${minShapeContrast}:1`;
}

/** The ratio of WCAG 2, from 1 to 21, of two colors as `#rrggbb`. */
export function contrast(a: string, b: string): number {
  const [light = 1, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
