/**
 * Schema registries that speak Confluent's API: schemas by their numbers, and numbers for schemas.
 *
 * <p>Entry: {@link dev.millrace.connectors.registry.SchemaRegistry}. Decoders ask without waiting: what is not there is fetched by a thread of
 * the registry's own, which ends when nothing is to be fetched, and again after a while when that fails. Sinks and CREATE wait, for a bounded
 * time. Paths: {@code GET /schemas/ids/N}, {@code GET /subjects/S/versions/V}, {@code POST /subjects/S/versions}. It knows no format.
 */
package dev.millrace.connectors.registry;
