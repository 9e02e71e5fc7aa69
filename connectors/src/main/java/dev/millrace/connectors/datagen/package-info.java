/**
 * Made-up rows for trying things out: any columns, each by a rule of its own, the same for the same seed.
 *
 * <p>Entry: {@link dev.millrace.connectors.datagen.DatagenSourceFactory}. Row {@code n} depends on {@code n} and the seed
 * alone. {@link dev.millrace.connectors.datagen.LinearRoadSourceFactory} makes cars in traffic in the same way.
 */
package dev.millrace.connectors.datagen;
