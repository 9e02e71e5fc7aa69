package dev.millrace.sql.bind.scope;

import java.util.List;
import org.apache.calcite.rel.RelNode;

/** A query whose columns all have a type. */
public record BoundQuery(RelNode rel, List<String> names) {}
