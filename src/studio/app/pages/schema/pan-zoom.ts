/** Pan and zoom of a large drawing: by dragging, the wheel, two fingers, and calls. */
import { select } from 'd3-selection';
import { type D3ZoomEvent, zoom, zoomIdentity } from 'd3-zoom';
import { type RefObject, useEffect, useRef } from 'react';

/** A rectangle of the drawing, in its own pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface PanZoom {
  readonly svg: RefObject<SVGSVGElement | null>;
  readonly content: RefObject<SVGGElement | null>;
  /** @param factor Above 1: larger. */
  zoomBy(factor: number): void;
  /** Centers an area in the viewport. @param fit Zooms out until it fits, for `legible` no further than names can be read. */
  show(area: Area, fit: 'whole' | 'legible' | 'as it is'): void;
}

const scales = [0.04, 2.5] as const;

/** Names of 13 pixels can be read down to this scale. */
const legible = 0.7;

/** Margin around a fitted area, in pixels. */
const margin = 16;

/** For a component that renders the viewport from the start. */
export function usePanZoom(): PanZoom {
  const svg = useRef<SVGSVGElement>(null);
  const content = useRef<SVGGElement>(null);
  const behavior = useRef(
    zoom<SVGSVGElement, unknown>()
      .scaleExtent([...scales])
      .clickDistance(4),
  ).current;
  useEffect(() => {
    const place = svg.current!;
    behavior.extent(() => [
      [0, 0],
      [place.clientWidth, place.clientHeight],
    ]);
    behavior.on('zoom', ({ transform }: D3ZoomEvent<SVGSVGElement, unknown>) => {
      content.current?.setAttribute('transform', transform.toString());
    });
    const selection = select(place);
    // A double click is two clicks on a link.
    selection.call(behavior).on('dblclick.zoom', null);
    return () => void selection.on('.zoom', null);
  }, [behavior]);
  return useRef<PanZoom>({
    svg,
    content,
    zoomBy: (factor) => select(svg.current!).call(behavior.scaleBy, factor),
    show({ x, y, width, height }, fit) {
      const place = svg.current!;
      const selection = select(place);
      const [across, down] = [place.clientWidth - 2 * margin, place.clientHeight - 2 * margin];
      if (across <= 0 || down <= 0) return;
      if (fit !== 'as it is') {
        const least = fit === 'legible' ? legible : scales[0];
        const scale = Math.max(least, Math.min(1, across / width, down / height));
        selection.call(behavior.transform, zoomIdentity.scale(scale));
      }
      selection.call(behavior.translateTo, x + width / 2, y + height / 2);
    },
  }).current;
}
