"""What measurements rest on: the models under audit, their images, estimates, plots and tables."""
