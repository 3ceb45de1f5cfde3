"""What users write, for the type checker alone (`make lint`): nothing here is run."""

import unweave as uw


def settings_that_vary_are_numbers_text_or_schedules() -> float:
    uw.BetaVAE(beta=4)
    uw.BetaVAE(beta="0:4:10000", latent_dim=5)
    uw.BetaVAE(beta=uw.Schedule(0, 4, 10_000))
    uw.BetaVAE(beta=[4])  # type: ignore[arg-type]
    return uw.BetaVAE(beta=4).beta.at(100)


def the_first_lines_of_the_readme() -> None:
    run = uw.train(uw.BetaVAE(beta=4), data="dsprites", steps=20_000)
    print(uw.evaluate(run))
    data = uw.load_data("dsprites")
    run.encode(data.images([0, 1, 2]))
    run.traverse(data.images([0])[0])


def plugins_are_paths_modules_or_classes() -> None:
    uw.add_plugin("mine.py")
    uw.load("runs/run", plugins=["mine.py", uw.BetaVAE])
    uw.load("runs/run", plugins=[3])  # type: ignore[list-item]


def a_method_by_its_name() -> None:
    uw.train("beta_vae", data="dsprites", architecture="conv64", precision="bfloat16")
    uw.train(uw.BetaVAE(), data="dsprites", precision="float16")  # type: ignore[arg-type]
