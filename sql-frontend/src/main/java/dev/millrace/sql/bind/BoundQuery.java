package dev.millrace.sql.bind;

import java.util.List;
import org.apache.calcite.rel.RelNode;

/** A query whose columns all have a type. */
record BoundQuery(RelNode rel, List<String> names) {}
