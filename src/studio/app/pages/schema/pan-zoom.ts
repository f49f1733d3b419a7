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
  /** Centers an area in the viewport. @param isWhole Also zooms out until it fits. */
  show(area: Area, isWhole: boolean): void;
}

/** Names are readable at all scales but the smallest. */
const scales = [0.04, 2.5] as const;

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
    show({ x, y, width, height }, isWhole) {
      const place = svg.current!;
      const selection = select(place);
      const [across, down] = [place.clientWidth - 2 * margin, place.clientHeight - 2 * margin];
      if (across <= 0 || down <= 0) return;
      if (isWhole) {
        const scale = Math.max(scales[0], Math.min(1, across / width, down / height));
        selection.call(behavior.transform, zoomIdentity.scale(scale));
      }
      selection.call(behavior.translateTo, x + width / 2, y + height / 2);
    },
  }).current;
}
