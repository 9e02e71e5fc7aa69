/**
 * From sketches to sketches without materialising them (dissertation §6.2.4, in-sketch operations): projection, mapping,
 * filtering, partitioning by key, by time and round-robin, merging.
 *
 * <p>Entry: {@link dev.millrace.sketch.transform.SketchTransform}. Results share what they can with their inputs; a stored one
 * is made of a result by {@code stream.SketchSealer}. Stateless.
 */
package dev.millrace.sketch.transform;
