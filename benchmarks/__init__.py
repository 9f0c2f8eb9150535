"""What the project measures about itself."""
