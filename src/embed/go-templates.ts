/** `pgreflect/go-templates`: the template engine alone. It reads Go's `html/template` and escapes by place. */
export {
  parseTemplate,
  type RenderOptions,
  renderTemplate,
  type Template,
  type TemplateData,
  type TemplateOptions,
} from '../email/engine/template.ts';
export { TemplateError, type TemplateErrorCode, type TemplatePlace } from '../email/engine/template-error.ts';
