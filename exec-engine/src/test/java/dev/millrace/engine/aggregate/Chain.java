package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.IOException;
import java.util.List;

/** Two operators as one, the second fed directly by the first, whose output is never full. */
public record Chain(List<Operator> operators) implements Operator {
    private Operator first() {
        return operators.get(0);
    }

    private Operator second() {
        return operators.get(1);
    }

    private Output between(Output output) {
        return new Output() {
            @Override
            public void emit(Batch batch) {
                second().process(0, batch, output);
            }

            @Override
            public boolean isFull() {
                return false;
            }
        };
    }

    @Override
    public void open(OperatorContext context) {
        operators.forEach(operator -> operator.open(context));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        first().process(port, batch, between(output));
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        return first().onWatermark(watermarkMicros, between(output)) && second().onWatermark(watermarkMicros, output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        return first().onEpochEnd(epoch, between(output)) && second().onEpochEnd(epoch, output);
    }

    private static StateFormat of(String operator, StateFormat state) {
        return new StateFormat(operator + " " + state.name(), state.version());
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        first().snapshot((state, group) -> writer.keyGroup(of("first", state), group));
        second().snapshot((state, group) -> writer.keyGroup(of("second", state), group));
    }

    @Override
    public void restore(StateReader reader) {
        first().restore((state, restore) -> reader.keyGroups(of("first", state), restore));
        second().restore((state, restore) -> reader.keyGroups(of("second", state), restore));
    }

    @Override
    public void close() {
        operators.forEach(Operator::close);
    }
}
